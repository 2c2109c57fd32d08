"""The role under which all attacks and all useful work run: tight enough that a bomb shows soon, wide enough to work."""

MEMORY_MB, PROCESSES, OPEN_FILES, FILE_MB, DISK_MB, CPU_S = 512, 128, 256, 64, 160, 20


def role(interpreter: str) -> str:
    places = {
        "allowed.test": "", "other.test": "", "api.test": "", "tls.test": "", "index.test": "",
        "guarded.test": 'methods = ["GET", "POST"]\npaths = ["/open"]',
        "public.test": "ports = [80]", "inner.test": "", "metadata.test": "", "mixed.test": "", "mapped.test": "", "rebind.test": "",
    }  # fmt: skip
    tables = "".join(f'[[places]]\nhost = "{host}"\n{more}\n' for host, more in places.items())
    return f"""
read = [".", "{interpreter}"]
write = ["."]
commands = ["*"]
profile = "build"
[secrets]
API_KEY = "vault:api"
[limits]
memory_mb = {MEMORY_MB}
processes = {PROCESSES}
open_files = {OPEN_FILES}
file_mb = {FILE_MB}
disk_mb = {DISK_MB}
cpu_s = {CPU_S}
{tables}"""
