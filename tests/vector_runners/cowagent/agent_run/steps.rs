//! The steps of a run, up to the answer or the limit of steps.

use super::{Environment, Run, user_text};
use plimsoll::languages::python::strip;
use plimsoll::systems::cowagent::loop_guard::ask_for_report;

/// The answer if the model returns no text.
const NO_ANSWER: &str = "抱歉，我暂时无法生成回复。请尝试换一种方式描述你的需求，或稍后再试。";
/// Prompt sent once if the model returns no text after a tool; removed from the conversation afterwards.
const ASK_FOR_ANSWER: &str = "请向用户说明刚才工具执行的结果或回答用户的问题。";

impl<W: Environment> Run<'_, W> {
    /// Runs the steps and returns the answer.
    pub(crate) fn steps(&mut self) -> Result<String, String> {
        let mut response = String::new();
        let mut step = 0;
        while step < self.max_steps {
            step += 1;
            let mut answer = self.ask(true)?;
            response.clone_from(&answer.text);
            if answer.calls.is_empty() {
                if answer.text.is_empty() {
                    self.warn("[Agent] LLM returned empty response after retry (no content and no tool calls)");
                    NO_ANSWER.clone_into(&mut response);
                    if step > 1 {
                        answer = self.ask_in_passing(ASK_FOR_ANSWER)?;
                        if answer.calls.is_empty() && answer.text.is_empty() {
                            self.warn("[Agent] Still empty after explicit request");
                        } else {
                            response.clone_from(&answer.text);
                        }
                    }
                }
                if answer.calls.is_empty() {
                    break;
                }
            }
            if let Some(last_text) = self.run_calls(step, &answer.calls) {
                return Ok(strip(&last_text).to_owned());
            }
        }
        if step >= self.max_steps {
            response = self.report(step);
        }
        Ok(strip(&response).to_owned())
    }

    /// Calls the model with a prompt that is removed afterwards.
    fn ask_in_passing(&mut self, prompt: &str) -> Result<super::model::Answer, String> {
        let at = self.messages.len();
        self.messages.push(user_text(prompt));
        let answer = self.ask(false);
        if self.messages.get(at).is_some_and(|m| m.is("user")) {
            self.messages.remove(at);
        }
        answer
    }

    /// Returns the last answer of a run that used up its steps, even if its last step was an answer.
    fn report(&mut self, n_steps: usize) -> String {
        self.warn(&format!("⚠️  已达到最大决策步数限制: {}", self.max_steps));
        let report = self.ask_in_passing(&ask_for_report(n_steps));
        if let Err(error) = &report {
            self.warn(&format!("Failed to get summary from LLM: {error}"));
        }
        let text = report.map(|answer| answer.text).unwrap_or_default();
        if !text.is_empty() {
            return text;
        }
        format!(
            "我已经执行了{n_steps}个决策步骤，达到了单次运行的步数上限。\
             任务可能还未完全完成，建议你将任务拆分成更小的步骤，或者换一种方式描述需求。"
        )
    }
}
