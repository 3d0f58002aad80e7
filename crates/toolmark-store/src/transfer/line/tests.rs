use proptest::prelude::*;

use super::*;

fn cells(table: &'static Table) -> BoxedStrategy<Row> {
    let one = |column: &Column| {
        let filled = match column.shape {
            Shape::Text => any::<String>().prop_map(Cell::Text).boxed(),
            Shape::Number => any::<i64>().prop_map(Cell::Number).boxed(),
            Shape::Bytes => {
                let lengths: Vec<usize> =
                    if column.lengths.is_empty() { (0..=100).collect() } else { column.lengths.to_vec() };
                let of = |length| {
                    let known = if length == 34 { vec![0x1e, 32] } else { Vec::new() };
                    proptest::collection::vec(any::<u8>(), length - known.len())
                        .prop_map(move |rest| Cell::Bytes([known.clone(), rest].concat()))
                };
                proptest::sample::select(lengths).prop_flat_map(of).boxed()
            }
            Shape::Id => any::<u128>().prop_map(|id| Cell::Id(Uuid::from_u128(id))).boxed(),
        };
        if column.nullable { prop_oneof![Just(Cell::Null), filled].boxed() } else { filled }
    };
    table.columns.iter().map(one).collect::<Vec<_>>().boxed()
}

proptest! {
    #[test]
    fn whatever_row_is_written_is_read_again(
        (at, row) in (0..TABLES.len()).prop_flat_map(|at| (Just(at), cells(&TABLES[at]))),
    ) {
        let table = &TABLES[at];
        let mut line = Vec::new();
        write(table, &row, &mut line);
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let mut object = object(&line).expect("an object");
        let kind = kind(&mut object).expect("a kind");
        prop_assert_eq!(super::row(&kind, object), Ok((table, row)));
    }
}

fn read(text: &str) -> Result<(&'static Table, Row), Wrong> {
    let mut object = object(text.as_bytes())?;
    let kind = kind(&mut object)?;
    row(&kind, object)
}

#[test]
fn what_is_no_row_is_refused() {
    let wrong = [
        "",
        "7",
        "[]",
        "{}",
        r#"{"kind":7}"#,
        r#"{"kind":"counter"}"#,
        r#"{"kind":"counter","name":"a"}"#,
        r#"{"kind":"counter","name":null,"value":1}"#,
        r#"{"kind":"counter","name":"a","value":"1"}"#,
        r#"{"kind":"counter","name":"a","value":1.5}"#,
        r#"{"kind":"counter","name":"a","value":9223372036854775808}"#,
        r#"{"kind":"counter","name":"a","value":1,"later":1}"#,
        r#"{"kind":"audit-open","node":"n","id":"7","seq":1}"#,
    ];
    for text in wrong {
        assert!(matches!(read(text), Err(Wrong::Syntax(_))), "{text}");
    }
    for digits in ["0", "0g", "AB", "0x"] {
        let text = format!(
            r#"{{"kind":"definition","pack":"a","position":0,"defines":"tool","name":"a","text":"a","digest":"{digits}"}}"#
        );
        assert!(matches!(read(&text), Err(Wrong::Syntax(_))), "{text}");
    }
}

#[test]
fn a_digest_of_another_length_is_refused() {
    let column = TABLES.iter().flat_map(|table| table.columns).find(|column| column.lengths == [32]);
    let column = column.expect("records have digests");
    let read = |digits: usize| cell(column, Some(Value::from("00".repeat(digits))));
    assert_eq!(read(32), Ok(Cell::Bytes(vec![0; 32])));
    for digits in [0, 1, 31, 33, 64] {
        assert!(matches!(read(digits), Err(Wrong::Syntax(_))), "{digits}");
    }
}

#[test]
fn a_digest_of_a_kind_that_is_not_known_is_refused() {
    let column = TABLES.iter().flat_map(|table| table.columns).find(|column| column.lengths == [32, 34]);
    let column = column.expect("records have digests of results");
    let read = |begins: &str| cell(column, Some(Value::from(format!("{begins}{}", "00".repeat(32)))));
    assert!(matches!(read("1e20"), Ok(Cell::Bytes(bytes)) if bytes.len() == 34));
    for begins in ["0000", "1220", "1e21"] {
        assert!(matches!(read(begins), Err(Wrong::Syntax(_))), "{begins}");
    }
}

#[test]
fn a_kind_that_is_not_known_is_told_from_what_cannot_be_read() {
    assert_eq!(read(r#"{"kind":"something-new","x":1}"#), Err(Wrong::Kind("something-new".into())));
}

#[test]
fn what_an_older_export_does_not_say_is_what_it_was_then() {
    let token = r#"{"kind":"token","id":"a","hash":"00","name":"a","created_us":1}"#;
    let (_, row) = read(token).expect("a token");
    assert_eq!(row.last(), Some(&Cell::Number(0)), "nobody was an approver");
    assert_eq!(row.get(3), Some(&Cell::Null));
}
