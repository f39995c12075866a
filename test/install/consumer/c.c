/* Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <annudf-c/Compiler.h>
#include <annudf-c/annudf.h>

#include <stdio.h>

int main(void) {
  annudf_artifact *artifact = NULL;
  annudf_environment *environment = NULL;
  /* Refused, and with words: so compiler, errors and runtime are all there. */
  if (annudf_compile("nonsense", 8, "main.c", NULL, &artifact, NULL) != ANNUDF_COMPILE)
    return 1;
  if (annudf_environment_describe(&environment) != ANNUDF_OK)
    return 2;
  printf("annudf %s, %s\n%s\n", annudf_version(), annudf_environment_get(environment)->cpu,
         annudf_last_error());
  annudf_environment_destroy(environment);
  return 0;
}
