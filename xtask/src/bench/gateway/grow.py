"""Makes a store of a few records one that has been used for long: `grow.py STORE RECORDS QUESTIONS`.

Records are copies with an id and a time of their own. The chain is broken by that, which no call looks at. Questions are open for a
day; each is about other arguments of a tool that was called, and has a run that is parked.
"""

import json, os, sqlite3, sys, time

store, records, questions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
db = sqlite3.connect(store, isolation_level=None)
db.execute("PRAGMA synchronous = OFF")
db.execute("PRAGMA cache_size = -400000")


def copy_records():
    # What few rows have is left out.
    copied = "kind, caller, session, has, arguments_size, result_size, total_ns, stages_ns"
    have, position, at = db.execute("SELECT count(*), max(position), min(time_us) FROM audit_rows").fetchone()
    if have == 0:
        sys.exit("the store has no record to copy")
    sample = min(have, 20000)
    while have < records:
        part = min(sample, records - have)
        db.execute("BEGIN")
        db.execute(
            f"INSERT INTO audit_rows (position, time_us, digests, {copied}) "
            "SELECT ? + row_number() OVER (), ? + row_number() OVER () * 1000, "
            f"CAST(substr(digests, 1, 64) || randomblob(16) || substr(digests, 81) AS BLOB), {copied} "
            "FROM (SELECT * FROM audit_rows WHERE kind IS NOT NULL ORDER BY position LIMIT ?)",
            (position, at, part),
        )
        db.execute("COMMIT")
        have, position, at = have + part, position + part, at + part * 1000
    db.execute("INSERT OR IGNORE INTO audit_seen (kind, stretch) SELECT DISTINCT coalesce(kind, 0), time_us >> 26 FROM audit_rows")
    # What is written next follows the last copy.
    db.execute(
        "UPDATE audit_nodes SET head_seq = max(head_seq, coalesce("
        "(SELECT max(position) FROM audit_rows WHERE position < (audit_nodes.id + 1) << 40) - (audit_nodes.id << 40), 0))"
    )


def unique(at, number):
    """A UUID of version 7."""
    digits = f"{at // 1000:012x}7{number & 0xFFF:03x}{os.urandom(8).hex()}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def rows(canonical, called, mark, policy):
    first = time.time_ns() // 1000
    for number in range(questions):
        at = first + number
        ask = {
            "id": unique(at, number),
            "key": os.urandom(32).hex(),
            "principal": f"caller-{number % 1000}",
            "session": None,
            "called": called,
            "canonical": canonical,
            "mark": mark,
            "behavior": "unknown",
            "arguments": json.dumps({"text": f"question {number}"}),
            "digest": "args1:" + os.urandom(32).hex(),
            "effects": [],
            "bound": None,
            "reasons": [{"decision": "ask", "code": "rule-asks", "message": f"rule `#1` asks before `{canonical}`", "facts": {}}],
            "changes": [],
            "task": None,
            "policy": policy,
            "created": at,
            "expires": at + 24 * 3600 * 1_000_000,
            "state": "pending",
        }
        yield unique(at, number), ask


def add_questions():
    canonical, called, mark, policy = db.execute(
        "SELECT canonical, called, mark, coalesce(policy, '') FROM audit WHERE canonical IS NOT NULL ORDER BY position LIMIT 1"
    ).fetchone()
    db.execute("BEGIN")
    for run, ask in rows(canonical, called, "tm1:" + mark.hex(), policy):
        columns = ("id", "key", "state", "principal", "canonical", "mark", "created", "expires")
        db.execute("INSERT INTO asks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*(ask[name] for name in columns), json.dumps(ask)))
        db.execute("INSERT INTO runs VALUES (?, ?, 'local', 'parked', 0, ?, ?)", (run, ask["id"], ask["created"], ask["created"]))
    db.execute("UPDATE counters SET value = value + 1 WHERE name = 'asks'")
    db.execute("COMMIT")


copy_records()
add_questions()
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
