# cmake -DINPUT=scan.bc -DOUTPUT=ScanBitcode.inc -P EmbedBitcode.cmake: the bytes as a C initialiser.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}" "${bytes}\n")
