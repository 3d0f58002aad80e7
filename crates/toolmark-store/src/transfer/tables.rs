//! What there is to take along: every table with its columns, how it is read in one order, and how it is written.
//!
//! Statements are the same for every back end as far as possible. `{rows}` stands for rows that are to be written, with the columns
//! of the table and their place `at`; each back end spells that in its own way.

/// One table of the store.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// What one of its rows is called in an export.
    pub kind: &'static str,
    /// The table itself.
    pub name: &'static str,
    /// What a row holds, in the order of the export.
    pub columns: &'static [Column],
    /// Reads all rows, in an order that is the same everywhere.
    pub select: Sql,
    /// Writes `{rows}`.
    pub insert: Sql,
    /// Rows that are there before anybody writes any; they are replaced.
    pub preset: bool,
    /// What else SQLite writes of the same `{rows}`, where it keeps them in parts.
    pub parts: &'static [&'static str],
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sql {
    /// The same everywhere.
    Common(&'static str),
    /// One for each back end.
    Each {
        /// For SQLite.
        sqlite: &'static str,
        /// For PostgreSQL.
        postgres: &'static str,
    },
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, also in an export.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it may hold nothing.
    pub nullable: bool,
    /// What an export says that is older than the column. A column without it was always there.
    pub default: Option<i64>,
    /// How many bytes it may hold, where not every number is right.
    pub lengths: &'static [usize],
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    Text,
    /// A whole number of 64 bits with a sign.
    Number,
    /// Bytes.
    Bytes,
    /// A UUID.
    Id,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A UUID.
    Id(uuid::Uuid),
}

/// One row, in the order of the columns.
pub type Row = Vec<Cell>;

/// Rows of one table that stand behind each other.
#[derive(Debug)]
pub struct Rows {
    /// The table.
    pub table: &'static Table,
    /// The rows.
    pub rows: Vec<Row>,
    /// The line of the first of them.
    pub line: u64,
}

impl Sql {
    pub(crate) const fn sqlite(self) -> &'static str {
        match self {
            Self::Common(sql) | Self::Each { sqlite: sql, .. } => sql,
        }
    }

    pub(crate) const fn postgres(self) -> &'static str {
        match self {
            Self::Common(sql) | Self::Each { postgres: sql, .. } => sql,
        }
    }
}

const fn text(name: &'static str) -> Column {
    Column { name, shape: Shape::Text, nullable: false, default: None, lengths: &[] }
}

const fn number(name: &'static str) -> Column {
    Column { name, shape: Shape::Number, nullable: false, default: None, lengths: &[] }
}

const fn bytes(name: &'static str) -> Column {
    Column { name, shape: Shape::Bytes, nullable: false, default: None, lengths: &[] }
}

/// Bytes of which there are always so many, or one of these numbers.
const fn digest(name: &'static str, lengths: &'static [usize]) -> Column {
    Column { lengths, ..bytes(name) }
}

const fn id(name: &'static str) -> Column {
    Column { name, shape: Shape::Id, nullable: false, default: None, lengths: &[] }
}

const fn maybe(column: Column) -> Column {
    Column { nullable: true, ..column }
}

/// Every table, in an order in which rows only need rows before them. A table that is added to the store is added here: a test compares.
pub const TABLES: &[Table] = &[
    Table {
        kind: "counter",
        name: "counters",
        columns: &[text("name"), number("value")],
        select: Sql::Common("SELECT name, value FROM counters ORDER BY name"),
        insert: Sql::Common(
            "INSERT INTO counters (name, value) SELECT r.name, r.value FROM {rows} WHERE TRUE ORDER BY r.at \
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        ),
        preset: true,
        parts: &[],
    },
    Table {
        kind: "name-scope",
        name: "name_scopes",
        columns: &[text("profile"), text("server"), number("version")],
        select: Sql::Common("SELECT profile, server, version FROM name_scopes ORDER BY profile, server"),
        insert: Sql::Common(
            "INSERT INTO name_scopes (profile, server, version) SELECT r.profile, r.server, r.version FROM {rows} \
             ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "name",
        name: "names",
        columns: &[
            text("profile"),
            text("server"),
            text("exposed"),
            text("canonical"),
            number("former"),
            number("since_us"),
        ],
        select: Sql::Common(
            "SELECT s.profile, s.server, n.exposed, n.canonical, n.former, n.since_us FROM names n \
             JOIN name_scopes s ON s.id = n.scope ORDER BY s.profile, s.server, n.exposed",
        ),
        insert: Sql::Common(
            "INSERT INTO names (scope, exposed, canonical, former, since_us) \
             SELECT s.id, r.exposed, r.canonical, r.former, r.since_us FROM {rows} \
             JOIN name_scopes s ON s.profile = r.profile AND s.server = r.server ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "pack",
        name: "packs",
        columns: &[text("pack"), text("source"), maybe(text("about")), number("seen_us")],
        select: Sql::Common("SELECT pack, source, about, seen_us FROM packs ORDER BY pack"),
        insert: Sql::Common(
            "INSERT INTO packs (pack, source, about, seen_us) SELECT r.pack, r.source, r.about, r.seen_us FROM {rows} \
             ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "definition",
        name: "definitions",
        columns: &[text("pack"), number("position"), text("defines"), text("name"), text("text"), bytes("digest")],
        select: Sql::Common(
            "SELECT pack, position, kind AS defines, name, text, digest FROM definitions ORDER BY pack, position",
        ),
        insert: Sql::Common(
            "INSERT INTO definitions (pack, position, kind, name, text, digest) \
             SELECT r.pack, r.position, r.defines, r.name, r.text, r.digest FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "definition-history",
        name: "definition_history",
        columns: &[
            text("pack"),
            text("defines"),
            text("name"),
            bytes("digest"),
            number("first_seen_us"),
            maybe(number("replaced_us")),
        ],
        select: Sql::Common(
            "SELECT pack, kind AS defines, name, digest, first_seen_us, replaced_us FROM definition_history \
             ORDER BY pack, id",
        ),
        insert: Sql::Common(
            "INSERT INTO definition_history (pack, kind, name, digest, first_seen_us, replaced_us) \
             SELECT r.pack, r.defines, r.name, r.digest, r.first_seen_us, r.replaced_us FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "token",
        name: "tokens",
        columns: &[
            text("id"),
            bytes("hash"),
            text("name"),
            maybe(text("tasks")),
            maybe(text("profiles")),
            number("created_us"),
            maybe(number("last_used_us")),
            maybe(number("expires_us")),
            maybe(number("revoked_us")),
            Column { default: Some(0), ..number("approver") },
        ],
        select: Sql::Common(
            "SELECT id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver \
             FROM tokens ORDER BY created_us, id",
        ),
        insert: Sql::Common(
            "INSERT INTO tokens (id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver) \
             SELECT r.id, r.hash, r.name, r.tasks, r.profiles, r.created_us, r.last_used_us, r.expires_us, r.revoked_us, \
             r.approver FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "ask",
        name: "asks",
        columns: &[
            text("id"),
            text("key"),
            text("state"),
            text("principal"),
            text("canonical"),
            text("mark"),
            number("created_us"),
            number("expires_us"),
            text("body"),
        ],
        select: Sql::Common(
            "SELECT id, key, state, principal, canonical, mark, created_us, expires_us, body FROM asks ORDER BY id",
        ),
        insert: Sql::Common(
            "INSERT INTO asks (id, key, state, principal, canonical, mark, created_us, expires_us, body) \
             SELECT r.id, r.key, r.state, r.principal, r.canonical, r.mark, r.created_us, r.expires_us, r.body FROM {rows} \
             ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "run",
        name: "runs",
        columns: &[
            text("id"),
            text("ask"),
            text("node"),
            text("state"),
            number("round"),
            number("created_us"),
            number("changed_us"),
        ],
        select: Sql::Common("SELECT id, ask, node, state, round, created_us, changed_us FROM runs ORDER BY id"),
        insert: Sql::Common(
            "INSERT INTO runs (id, ask, node, state, round, created_us, changed_us) \
             SELECT r.id, r.ask, r.node, r.state, r.round, r.created_us, r.changed_us FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "grant",
        name: "grants",
        columns: &[
            text("id"),
            text("mark"),
            text("principal"),
            number("used"),
            maybe(number("uses")),
            maybe(number("expires_us")),
            maybe(number("revoked_us")),
            text("body"),
        ],
        select: Sql::Common(
            "SELECT id, mark, principal, used, uses, expires_us, revoked_us, body FROM grants ORDER BY id",
        ),
        insert: Sql::Common(
            "INSERT INTO grants (id, mark, principal, used, uses, expires_us, revoked_us, body) \
             SELECT r.id, r.mark, r.principal, r.used, r.uses, r.expires_us, r.revoked_us, r.body FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "baseline",
        name: "baselines",
        columns: &[text("task"), text("text"), number("changed_us")],
        select: Sql::Common("SELECT task, text, changed_us FROM baselines ORDER BY task"),
        insert: Sql::Common(
            "INSERT INTO baselines (task, text, changed_us) SELECT r.task, r.text, r.changed_us FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "session",
        name: "sessions",
        columns: &[
            text("name"),
            maybe(text("holder")),
            maybe(number("since_us")),
            number("changed_us"),
            maybe(number("until_us")),
            maybe(text("waits")),
            maybe(text("owner")),
        ],
        select: Sql::Common(
            "SELECT name, holder, since_us, changed_us, until_us, waits, owner FROM sessions ORDER BY name",
        ),
        insert: Sql::Common(
            "INSERT INTO sessions (name, holder, since_us, changed_us, until_us, waits, owner) \
             SELECT r.name, r.holder, r.since_us, r.changed_us, r.until_us, r.waits, r.owner FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "session-item",
        name: "session_items",
        columns: &[text("session"), number("position"), maybe(text("run")), text("text")],
        select: Sql::Common("SELECT session, position, run, text FROM session_items ORDER BY session, position"),
        insert: Sql::Common(
            "INSERT INTO session_items (session, position, run, text) SELECT r.session, r.position, r.run, r.text \
             FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "pin",
        name: "pins",
        columns: &[text("tool"), text("mark"), text("body"), text("how"), text("accepted_by"), number("accepted_us")],
        select: Sql::Common("SELECT tool, mark, body, how, accepted_by, accepted_us FROM pins ORDER BY tool"),
        insert: Sql::Common(
            "INSERT INTO pins (tool, mark, body, how, accepted_by, accepted_us) \
             SELECT r.tool, r.mark, r.body, r.how, r.accepted_by, r.accepted_us FROM {rows} ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "audit-node",
        name: "audit_nodes",
        columns: &[
            text("node"),
            number("head_seq"),
            bytes("head_hash"),
            number("checkpoint_seq"),
            bytes("checkpoint_hash"),
            maybe(number("checkpoint_us")),
        ],
        select: Sql::Common(
            "SELECT node, head_seq, head_hash, checkpoint_seq, checkpoint_hash, checkpoint_us FROM audit_nodes ORDER BY node",
        ),
        insert: Sql::Common(
            "INSERT INTO audit_nodes (node, head_seq, head_hash, checkpoint_seq, checkpoint_hash, checkpoint_us) \
             SELECT r.node, r.head_seq, r.head_hash, r.checkpoint_seq, r.checkpoint_hash, r.checkpoint_us FROM {rows} \
             ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
    Table {
        kind: "audit",
        name: "audit",
        columns: &[
            text("node"),
            number("seq"),
            id("id"),
            number("time_us"),
            maybe(text("caller")),
            maybe(text("session")),
            maybe(text("era")),
            maybe(text("transport")),
            text("called"),
            maybe(text("canonical")),
            maybe(digest("mark", &[32])),
            maybe(digest("definition", &[32])),
            maybe(text("task")),
            maybe(text("verdict")),
            maybe(text("reasons")),
            maybe(text("rules")),
            maybe(text("policy")),
            maybe(text("grant_id")),
            maybe(text("judged")),
            maybe(digest("arguments", &[32])),
            maybe(number("arguments_size")),
            maybe(digest("result", &[32, 34])),
            maybe(number("result_size")),
            text("outcome"),
            maybe(text("code")),
            text("stages_ns"),
            number("total_ns"),
            maybe(digest("trace", &[16])),
            maybe(bytes("arguments_body")),
            maybe(bytes("result_body")),
            digest("prev", &[32]),
            digest("hash", &[32]),
        ],
        select: Sql::Each {
            sqlite: "SELECT n.node, a.seq, a.id, a.time_us, a.caller, a.session, a.era, a.transport, a.called, a.canonical, a.mark, \
                     a.definition, a.task, a.verdict, a.reasons, a.rules, a.policy, a.grant_id, a.judged, a.arguments, \
                     a.arguments_size, a.result, a.result_size, a.outcome, a.code, a.stages_ns, a.total_ns, a.trace, \
                     a.arguments_body, a.result_body, a.prev, a.hash FROM audit_nodes n \
                     JOIN audit a ON a.position > (n.id << 40) AND a.position < ((n.id + 1) << 40) ORDER BY n.node, a.position",
            postgres: "SELECT n.node, a.seq, a.id, a.time_us, a.caller, a.session, a.era, a.transport, a.called, a.canonical, a.mark, \
                       a.definition, a.task, a.verdict, a.reasons, a.rules, a.policy, a.grant_id, a.judged, a.arguments, \
                       a.arguments_size, a.result, a.result_size, a.outcome, a.code, a.stages_ns, a.total_ns, a.trace, \
                       a.arguments_body, a.result_body, a.prev, a.hash FROM audit_nodes n JOIN audit a ON a.node = n.id \
                       ORDER BY n.node, a.seq",
        },
        insert: Sql::Each {
            // What is no place in a chain belongs to nothing, and is refused.
            sqlite: "INSERT INTO audit_rows (position, time_us, caller, session, has, arguments_size, result_size, total_ns, digests, \
                     stages_ns) SELECT (n.id << 40) | r.seq, r.time_us, r.caller, r.session, \
                     (r.arguments IS NOT NULL) + 2 * (r.result IS NOT NULL) + 4 * (r.trace IS NOT NULL) \
                     + 8 * (coalesce(length(r.result), 0) = 34), r.arguments_size, \
                     r.result_size, r.total_ns, unhex(hex(r.hash) || hex(r.prev) || hex(r.id) \
                     || hex(coalesce(r.arguments, zeroblob(32))) || hex(coalesce(substr(r.result, -32), zeroblob(32))) \
                     || hex(coalesce(r.trace, zeroblob(16)))), r.stages_ns FROM {rows} \
                     JOIN audit_nodes n ON n.node = r.node AND r.seq BETWEEN 1 AND 1099511627775 ORDER BY r.at",
            postgres: "INSERT INTO audit (node, seq, id, time_us, caller, session, era, transport, called, canonical, mark, definition, \
                       task, verdict, reasons, rules, policy, grant_id, judged, arguments, arguments_size, result, result_size, \
                       outcome, code, stages_ns, total_ns, trace, arguments_body, result_body, prev, hash) \
                       SELECT n.id, r.seq, r.id, r.time_us, r.caller, r.session, r.era, r.transport, r.called, r.canonical, r.mark, \
                       r.definition, r.task, r.verdict, r.reasons, r.rules, r.policy, r.grant_id, r.judged, r.arguments, \
                       r.arguments_size, r.result, r.result_size, r.outcome, r.code, r.stages_ns, r.total_ns, r.trace, \
                       r.arguments_body, r.result_body, r.prev, r.hash FROM {rows} JOIN audit_nodes n ON n.node = r.node \
                       ORDER BY r.at",
        },
        preset: false,
        parts: &[
            "INSERT INTO audit_details (position, code, reasons, rules, grant_id, arguments_body, result_body, era, transport, called, \
             canonical, mark, definition, task, verdict, policy, judged, outcome) \
             SELECT (n.id << 40) | r.seq, r.code, r.reasons, r.rules, r.grant_id, r.arguments_body, r.result_body, r.era, \
             r.transport, r.called, r.canonical, r.mark, r.definition, r.task, r.verdict, r.policy, r.judged, r.outcome \
             FROM {rows} JOIN audit_nodes n ON n.node = r.node ORDER BY r.at",
            "INSERT OR IGNORE INTO audit_seen (kind, stretch) SELECT DISTINCT 0, r.time_us >> 26 FROM {rows}",
        ],
    },
    Table {
        kind: "audit-body",
        name: "audit_bodies",
        columns: &[text("node"), number("seq"), maybe(text("arguments")), maybe(text("result"))],
        select: Sql::Each {
            sqlite: "SELECT n.node, b.position & 1099511627775, b.arguments, b.result FROM audit_nodes n \
                     JOIN audit_bodies b ON b.position > (n.id << 40) AND b.position < ((n.id + 1) << 40) \
                     ORDER BY n.node, b.position",
            postgres: "SELECT n.node, b.seq, b.arguments, b.result FROM audit_nodes n \
                       JOIN audit_bodies b ON b.node = n.id ORDER BY n.node, b.seq",
        },
        insert: Sql::Each {
            sqlite: "INSERT INTO audit_bodies (position, arguments, result) SELECT a.position, r.arguments, r.result \
                     FROM {rows} JOIN audit_nodes n ON n.node = r.node JOIN audit_rows a ON a.position = (n.id << 40) | r.seq \
                     ORDER BY r.at",
            postgres: "INSERT INTO audit_bodies (node, seq, arguments, result) SELECT n.id, r.seq, r.arguments, r.result \
                       FROM {rows} JOIN audit_nodes n ON n.node = r.node JOIN audit a ON a.node = n.id AND a.seq = r.seq \
                       ORDER BY r.at",
        },
        preset: false,
        parts: &[],
    },
    Table {
        kind: "audit-open",
        name: "audit_open",
        columns: &[text("node"), id("id"), number("seq")],
        select: Sql::Common(
            "SELECT n.node, o.id, o.seq FROM audit_nodes n JOIN audit_open o ON o.node = n.id ORDER BY n.node, o.seq, o.id",
        ),
        insert: Sql::Common(
            "INSERT INTO audit_open (node, id, seq) SELECT n.id, r.id, r.seq FROM {rows} \
             JOIN audit_nodes n ON n.node = r.node ORDER BY r.at",
        ),
        preset: false,
        parts: &[],
    },
];
