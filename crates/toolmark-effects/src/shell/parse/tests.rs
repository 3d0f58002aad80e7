use super::*;

fn refused(text: &str) -> bool {
    program(text).is_err()
}

#[test]
fn what_shells_read_differently_is_refused() {
    for text in [
        "echo $'a\\'b'",
        "ls !(a)",
        "echo a(b)",
        "echo $[1]",
        "echo ${(e)x}",
        "((a b))",
        "((a;b))",
        "[[ a && b ]]",
        "[[ a > b ]]",
        "[[ a\nb ]]",
        "cat <<E\na\\\nb\nE\n",
        "echo ${x@P}",
        "echo \"${x:-'a'}\"",
        "x=(a) (b)",
    ] {
        assert!(refused(text), "{text}");
    }
}

#[test]
fn what_is_not_complete_is_refused() {
    for text in [
        "(",
        ")",
        "{",
        "}",
        "if a",
        "if a; then b",
        "for x in a",
        "case a in",
        "'a",
        "\"a",
        "`a",
        "$(a",
        "${a",
        "<<E",
        "<<E\na",
        "a &&",
        "a |",
        "| a",
        "> ",
        "f()",
        "[[ a",
        ";;",
    ] {
        assert!(refused(text), "{text}");
    }
}

#[test]
fn ordinary_programs_are_read() {
    for text in [
        "",
        "# x",
        "a",
        "a b c",
        "a;b",
        "a&b",
        "a|b",
        "a&&b||c",
        "(a;b)",
        "{ a; b; }",
        "if a; then b; elif c; then d; else e; fi",
        "while a; do b; done",
        "for x in a b; do c; done",
        "for x; do c; done",
        "for ((i=0;i<3;i++)); do a; done",
        "case a in b|c) d;; *) e;; esac",
        "f() { a; }",
        "function f { a; }",
        "a=1 b=2 c",
        "a=(1 2)",
        "declare -a x=(1 2)",
        "a <b >c 2>&1 >>d",
        "a <<E\nb\nE\n",
        "a <<'E'\nb\nE\n",
        "a <<-E\n\tb\n\tE\n",
        "a <<< b",
        "a <(b) >(c)",
        "echo \"a $(b) `c` ${d:-e} $((1+2))\"",
        "[[ -f a && -n $b ]]",
        "[[ $a =~ ^(b|c)$ ]]",
        "! a",
        "time a",
        "a \\\n b",
        "a{1..3}",
        "a[b]=c d",
    ] {
        assert!(!refused(text), "{text}: {:?}", program(text).err());
    }
}

#[test]
fn nesting_has_a_limit_in_every_form() {
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("{ ", ";}"),
        ("${x:-", "}"),
        ("if a; then ", "; fi"),
        ("f() { ", ";}"),
        ("<(", ")"),
    ] {
        let text = format!("echo {}x{}", open.repeat(200), close.repeat(200));
        assert!(refused(&text), "{open}");
    }
}

#[test]
fn a_here_document_belongs_to_its_line() {
    let found = program("cat <<A; cat <<B\n1\nA\n2\nB\nrm x\n").unwrap();
    assert_eq!(found.bodies.iter().map(|body| body.literal().unwrap()).collect::<Vec<_>>(), ["1\n", "2\n"]);
    assert_eq!(found.script.pipelines.len(), 3);
}
