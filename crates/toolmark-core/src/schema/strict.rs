//! The strict form.
