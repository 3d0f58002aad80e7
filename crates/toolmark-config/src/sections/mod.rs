//! The tables of `toolmark.toml`. Each is declared once; its type, defaults, reader and schema come from that declaration.

mod address;
mod agent;
mod agui;
mod approvals;
mod audit;
mod behavior;
mod foreign;
mod gateway;
mod model;
mod pack;
mod pins;
mod policy;
mod profile;
mod task;
mod telemetry;
mod tool;

pub use address::{check_receiver, is_trusted_host, is_web_address};
pub use agent::{Agent, AgentSettings};
pub use agui::Agui;
pub use approvals::{Approvals, Webhook};
pub use audit::Audit;
pub use behavior::BehaviorSection;
pub use gateway::{Gateway, GatewayAuth, GatewayLimits, Jwt};
pub use model::{ModelSection, Price};
pub use pack::{OAuth, Pack, PackAuth, PackLimits};
pub(crate) use pack::{is_header, is_of_transport, unsendable};
pub use pins::Pins;
pub use policy::PolicySection;
pub(crate) use policy::RuleShape;
pub use profile::{Console, Names, Profile};
pub use task::Task;
pub use telemetry::{Log, Otlp, Telemetry};
pub use tool::Tool;
