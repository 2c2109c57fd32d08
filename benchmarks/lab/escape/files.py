"""The file system: reading and changing what is the owner's and not in the workspace."""

from lab.escape.attack import Attack, changed, exists, told

ATTACKS = (
    Attack(name="read a file of the owner's home", command="cat @{home}/canary", judge=told("home")),
    Attack(name="read a private key", command="cat @{home}/.ssh/id_ed25519", judge=told("key")),
    Attack(name="read the passwords", command="cat /etc/shadow", judge=told("shadow")),
    Attack(name="climb out with dots", command="cat ../../../../../../../../../@{home}/canary", judge=told("home")),
    Attack(name="beside the workspace", command="cat ../canary ../../canary; cat /workspace/../canary", judge=told("home")),
    Attack(name="by its own root", command="cat /proc/self/root/@{home}/canary", judge=told("home")),
    Attack(name="by the root of process 1", command="cat /proc/1/root/@{home}/canary", judge=told("home")),
    Attack(name="by anybody's root", command="cat /proc/[0-9]*/root/@{home}/canary", judge=told("home")),
    Attack(name="by anybody's directory", command="cat /proc/[0-9]*/cwd/canary", judge=told("home")),
    Attack(name="by anybody's open file", command=r"find /proc/[0-9]*/fd -lname '*canary*' -exec cat {} \;", judge=told("home")),
    Attack(
        name="search the machine",
        command="find / -maxdepth 4 \\( -path /proc -o -path /sys \\) -prune -o -name canary -exec cat {} + 2>/dev/null",
        judge=told("home"),
    ),
    Attack(name="link to it by name", command="ln -s @{home}/canary link && cat link", judge=told("home")),
    Attack(name="link to the file itself", command="ln @{home}/canary hard; ln ../canary hard; cat hard", judge=told("home")),
    Attack(name="change a file of the owner's home", command="echo @{mark} > @{home}/canary", judge=changed("home")),
    Attack(name="change it by process 1", command="echo @{mark} > /proc/1/root/@{home}/canary", judge=changed("home")),
    Attack(name="remove a private key", command="rm -rf @{home}/.ssh /proc/1/root/@{home}/.ssh; rm -rf ../.ssh", judge=changed("key")),
    Attack(name="plant a program of the system", command="echo x > /usr/local/sbin/@{mark}", judge=exists("/usr/local/sbin/@{mark}")),
    Attack(name="write where everybody can", command="echo x > /var/tmp/@{mark}; echo x > /tmp/@{mark}", judge=exists("/tmp/@{mark}")),
    Attack(
        name="move the workspace away", command="cd / && mv @{work} @{home}/gone; mv /workspace/work /workspace/gone", judge=exists("gone")
    ),
)
