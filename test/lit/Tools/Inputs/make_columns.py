# Vectors, queries, and a value of each column for each vector.
import numpy as np

rng = np.random.default_rng(3)
rows = rng.random((210, 6), dtype=np.float32)
columns = {"age": rng.random(210, dtype=np.float32), "price": (rng.random(210) * 90).astype(np.float32)}
np.save("x.npy", rows[:200])
np.save("more.npy", rows[200:])
np.save("all.npy", rows)
np.save("q.npy", rng.random((7, 6), dtype=np.float32))
for name, values in columns.items():
    np.save(f"{name}.npy", values[:200])
    np.save(f"more_{name}.npy", values[200:])
    np.save(f"all_{name}.npy", values)
