//! The one pipeline: identify, validate, analyze, judge, approve, dispatch, shape, record. Its first four stages are pure.
