//! A server of the Model Context Protocol (<https://modelcontextprotocol.io>) on standard input and output.
//!
//! The tools are a [`Toolbox`]. This module handles messages, order and cancellation. Invalid messages never end the
//! server; only the end of standard input does.

use crate::progress::Progress;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value};
use std::io;
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Arguments or a JSON schema of a tool.
pub type JsonObject = Map<String, Value>;

/// A tool that only reads.
#[derive(Clone, Debug)]
pub struct ToolDescription {
    /// Name of the tool.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Purpose and result of the tool, for the model.
    pub description: &'static str,
    /// JSON schema of the parameters.
    pub parameters: JsonObject,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments by name.
    pub arguments: JsonObject,
    /// Name of the program that calls the tool, if it gave one.
    pub client: Option<String>,
}

/// The tools of a server.
pub trait Toolbox: Send + Sync + 'static {
    /// Returns instructions on all tools, for the model.
    fn instructions(&self) -> &'static str;

    /// Returns the tools.
    fn tools(&self) -> Vec<ToolDescription>;

    /// Answers a call of one of the tools with a text. Blocks; stops early if `progress` is cancelled.
    ///
    /// # Errors
    /// Returns a text for the model if the call fails.
    fn call(&self, call: &ToolCall, progress: &Progress) -> Result<String, String>;
}

/// Serves the tools until standard input ends. Blocks.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn serve(toolbox: impl Toolbox) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let result = runtime.block_on(async {
        match Server::new(toolbox).serve(stdio()).await {
            Ok(running) => running.waiting().await.map(|_reason| ()).map_err(io::Error::other),
            // The client ended before it began.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // A call that is still running has no reader any more.
    runtime.shutdown_background();
    result
}

struct Server<T> {
    toolbox: Arc<T>,
    /// Calls are answered one at a time: each loads a session, which may be large.
    turn: Semaphore,
}

impl<T: Toolbox> Server<T> {
    fn new(toolbox: T) -> Self {
        Self { toolbox: Arc::new(toolbox), turn: Semaphore::new(1) }
    }

    /// Returns the names of the tools.
    fn names(&self) -> String {
        let names: Vec<_> = self.toolbox.tools().iter().map(|tool| tool.name).collect();
        names.join(", ")
    }

    /// Answers a call on another thread.
    async fn answer(&self, call: ToolCall, progress: &Arc<Progress>) -> Result<String, String> {
        // A cancelled call gives its turn back at once. A file that blocks, such as a pipe, then blocks no other call.
        let _turn = self.turn.acquire().await.map_err(|error| error.to_string())?;
        let (toolbox, progress) = (Arc::clone(&self.toolbox), Arc::clone(progress));
        let answer = spawn_blocking(move || toolbox.call(&call, &progress));
        let failed = "this call failed because of an error in plimsoll; please report it";
        answer.await.unwrap_or_else(|_panic| Err(failed.to_owned()))
    }
}

impl<T: Toolbox> ServerHandler for Server<T> {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        let mut this = Implementation::new("plimsoll", env!("CARGO_PKG_VERSION"));
        this.title = Some("Plimsoll".to_owned());
        ServerConfig::new(tools)
            .with_server_info(this)
            .with_instructions(self.toolbox.instructions())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.toolbox.tools().into_iter();
        Ok(ListToolsResult::with_all_items(tools.map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.into_owned();
        if !self.toolbox.tools().iter().any(|tool| tool.name == name) {
            let error = format!("no tool is named {name:?}; the tools are {}", self.names());
            return Err(ErrorData::invalid_params(error, None));
        }
        let call = ToolCall {
            tool: name,
            arguments: request.arguments.unwrap_or_default(),
            client: context.client_info().map(|client| client.name),
        };
        let progress = Arc::new(Progress::default());
        let answer = tokio::select! {
            answer = self.answer(call, &progress) => answer,
            () = context.ct.cancelled() => {
                progress.cancel();
                Err("cancelled".to_owned())
            }
        };
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(result.into())
    }

    /// Rejects a method that this server does not have, and a call whose parameters have another form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(if method == "tools/call" {
            let names = self.names();
            let error = format!("a call has `name`, one of {names}, and `arguments`, an object");
            ErrorData::invalid_params(error, None)
        } else {
            let error = format!("no method is named {method:?}; use tools/list and tools/call");
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, error, None)
        })
    }
}

fn tool(tool: ToolDescription) -> Tool {
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(tool.name, tool.description, tool.parameters)
        .with_title(tool.title)
        .with_annotations(annotations)
}
