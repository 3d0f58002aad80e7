//! What does a model do with a computer, and what does it see then? It says actions in the provider's words; the program's own computer
//! carries them out one after the other, and the screen is shown as it is after the last one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use toolmark_core::text::visible;
use toolmark_models::HostedTool;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{
    Arguments, Condition, FunctionTool, ImagePart, Part, ToolContext, ToolError, ToolOutput,
};

use super::HostTool;

/// A computer that a model drives: a browser, a virtual machine, whatever the program has. What it is and does is the program's own.
pub trait Computer: Send + Sync + 'static {
    /// `browser`, `mac`, `windows`, `ubuntu` or `linux`, where the model is to be told.
    fn environment(&self) -> Option<&str> {
        None
    }

    /// The width and height of the screen, where the model is to be told.
    fn dimensions(&self) -> Option<(u32, u32)> {
        None
    }

    /// What the screen shows now.
    fn screenshot(&self) -> Done<'_, Screenshot>;

    /// Clicks once.
    fn click(&self, at: Pointer, button: Button) -> Done<'_>;

    /// Clicks twice with the left button.
    fn double_click(&self, at: Pointer) -> Done<'_>;

    /// Scrolls by so many pixels to the right and down.
    fn scroll(&self, at: Pointer, right: i64, down: i64) -> Done<'_>;

    /// Types a text.
    fn type_text(&self, text: String) -> Done<'_>;

    /// Waits until what is under way has most likely happened.
    fn wait(&self) -> Done<'_>;

    /// Moves the pointer.
    fn move_to(&self, at: Pointer) -> Done<'_>;

    /// Presses keys together.
    fn keypress(&self, keys: Vec<String>) -> Done<'_>;

    /// Drags along a path; `held` are keys that are held meanwhile.
    fn drag(&self, path: Vec<(i64, i64)>, held: Vec<String>) -> Done<'_>;
}

/// What comes of an action.
pub type Done<'a, T = ()> = Later<'a, Result<T, ToolError>>;

/// A place on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    /// From the left.
    pub x: i64,
    /// From the top.
    pub y: i64,
    /// Keys that are held meanwhile.
    pub held: Vec<String>,
}

/// A button of a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the button of that name")]
pub enum Button {
    Left,
    Right,
    Wheel,
    Back,
    Forward,
}

/// What a screen shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Screenshot {
    url: String,
}

/// Something that the provider wants somebody to have seen before the action is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SafetyCheck {
    /// Its id.
    pub id: String,
    /// What kind of concern it is.
    #[serde(default)]
    pub code: Option<String>,
    /// The concern in words.
    #[serde(default)]
    pub message: Option<String>,
}

/// The tool with which a model drives a computer; given to an agent with [`AgentBuilder::host_tool`](crate::AgentBuilder::host_tool).
///
/// Its calls go through the pipeline like those of any tool. Where the provider has a concern, a person must agree to the very call, or
/// [`ComputerTool::on_safety_check`] answers.
pub struct ComputerTool {
    computer: Arc<dyn Computer>,
    acknowledges: Option<Acknowledges>,
    needs_approval: Condition<ToolContext>,
}

type Acknowledges = Arc<dyn Fn(ToolContext, SafetyCheck) -> Later<'static, bool> + Send + Sync>;

impl Screenshot {
    /// A PNG image.
    #[must_use]
    pub fn png(bytes: &[u8]) -> Self {
        Self::of("image/png", bytes)
    }

    /// A JPEG image.
    #[must_use]
    pub fn jpeg(bytes: &[u8]) -> Self {
        Self::of("image/jpeg", bytes)
    }

    fn of(kind: &str, bytes: &[u8]) -> Self {
        Self { url: format!("data:{kind};base64,{}", STANDARD.encode(bytes)) }
    }

    /// An image at an address that the provider can reach, or a `data:` URL.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
}

impl ComputerTool {
    /// The tool for this computer.
    #[must_use]
    pub fn new(computer: impl Computer) -> Self {
        Self { computer: Arc::new(computer), acknowledges: None, needs_approval: Condition::fixed(false) }
    }

    /// Who looks at the provider's concerns in place of a person. Nothing is done unless all of them are acknowledged.
    #[must_use]
    pub fn on_safety_check<F, T>(mut self, acknowledges: F) -> Self
    where
        F: Fn(ToolContext, SafetyCheck) -> T + Send + Sync + 'static,
        T: Future<Output = bool> + Send + 'static,
    {
        self.acknowledges = Some(Arc::new(move |context, check| Box::pin(acknowledges(context, check))));
        self
    }

    /// Whether a person must agree, beside what rules and the provider say.
    #[must_use]
    pub fn needs_approval(mut self, condition: impl Into<Condition<ToolContext>>) -> Self {
        self.needs_approval = condition.into();
        self
    }
}

/// What a model wants to be done, as the pipeline sees it.
#[derive(Debug, Deserialize)]
struct ComputerCall {
    actions: Vec<Action>,
    #[serde(default)]
    pending_safety_checks: Vec<SafetyCheck>,
}

/// One action, as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Action {
    Click { x: i64, y: i64, button: Button, keys: Option<Vec<String>> },
    DoubleClick { x: i64, y: i64, keys: Option<Vec<String>> },
    Scroll { x: i64, y: i64, scroll_x: i64, scroll_y: i64, keys: Option<Vec<String>> },
    Type { text: String },
    Wait,
    Move { x: i64, y: i64, keys: Option<Vec<String>> },
    Keypress { keys: Vec<String> },
    Drag { path: Vec<Point>, keys: Option<Vec<String>> },
    Screenshot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Point {
    x: i64,
    y: i64,
}

/// How many actions one call may hold.
const MOST_ACTIONS: usize = 1_000;

impl From<ComputerTool> for HostTool {
    fn from(own: ComputerTool) -> Self {
        let ComputerTool { computer, acknowledges, needs_approval } = own;
        let hosted = HostedTool::Computer(toolmark_models::tool::Computer {
            environment: computer.environment().map(str::to_owned),
            display: computer.dimensions(),
        });
        // Where nobody else looks at what concerns the provider, a person does.
        let concerned = Condition::when(|context: &ToolContext| has_concerns(context.arguments()));
        let asks = if acknowledges.is_some() { needs_approval } else { needs_approval.or(concerned) };
        let tool = FunctionTool::builder(hosted.kind())
            .description("Drives a computer: clicks, types, scrolls and looks at the screen.")
            .display_name("computer")
            .parameters(json!({
                "type": "object",
                "properties": {
                    "actions": {
                        "type": "array", "minItems": 1, "maxItems": MOST_ACTIONS,
                        "items": { "type": "object", "properties": { "type": { "type": "string" } }, "required": ["type"] },
                    },
                    "pending_safety_checks": {
                        "type": "array",
                        "items": { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] },
                    },
                },
                "required": ["actions"],
            }))
            .behavior_of("MUTATES|EXECUTE|DATA|IMAGE")
            .run(move |context, arguments| drive(Arc::clone(&computer), acknowledges.clone(), context, arguments));
        Self { asks, ..Self::of(hosted, tool) }
    }
}

fn has_concerns(arguments: &Arguments) -> bool {
    let checks = arguments.get("pending_safety_checks");
    checks.is_some_and(|checks| checks.as_array().is_none_or(|checks| !checks.is_empty()))
}

/// Everything is read before anything is done.
async fn drive(
    computer: Arc<dyn Computer>,
    acknowledges: Option<Acknowledges>,
    context: ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let call: ComputerCall = arguments.read()?;
    if let Some(acknowledges) = acknowledges {
        for check in call.pending_safety_checks {
            let shown = visible(check.message.as_deref().or(check.code.as_deref()).unwrap_or(&check.id), 300);
            if !acknowledges(context.clone(), check).await {
                return Err(ToolError::told(format!("Nothing was done: nobody takes responsibility for: {shown}.")));
            }
        }
    }
    let mut seen = None;
    for action in call.actions {
        seen = carry_out(&*computer, action).await?;
    }
    let screen = match seen {
        Some(screen) => screen,
        None => computer.screenshot().await?,
    };
    Ok(ToolOutput::Parts(vec![Part::Image(ImagePart { url: Some(screen.url), ..ImagePart::default() })]))
}

/// Does one thing; what the screen shows, where that was asked for.
async fn carry_out(computer: &dyn Computer, action: Action) -> Result<Option<Screenshot>, ToolError> {
    let at = |x, y, keys: Option<Vec<String>>| Pointer { x, y, held: keys.unwrap_or_default() };
    match action {
        Action::Screenshot => return computer.screenshot().await.map(Some),
        Action::Click { x, y, button, keys } => computer.click(at(x, y, keys), button).await?,
        Action::DoubleClick { x, y, keys } => computer.double_click(at(x, y, keys)).await?,
        Action::Scroll { x, y, scroll_x, scroll_y, keys } => {
            computer.scroll(at(x, y, keys), scroll_x, scroll_y).await?;
        }
        Action::Type { text } => computer.type_text(text).await?,
        Action::Wait => computer.wait().await?,
        Action::Move { x, y, keys } => computer.move_to(at(x, y, keys)).await?,
        Action::Keypress { keys } => computer.keypress(keys).await?,
        Action::Drag { path, keys } => {
            let path = path.into_iter().map(|Point { x, y }| (x, y)).collect();
            computer.drag(path, keys.unwrap_or_default()).await?;
        }
    }
    Ok(None)
}

/// What a screen shows may be private: only its size is said.
impl fmt::Debug for Screenshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Screenshot({} bytes)", self.url.len())
    }
}

impl fmt::Debug for ComputerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComputerTool").field("environment", &self.computer.environment()).finish_non_exhaustive()
    }
}
