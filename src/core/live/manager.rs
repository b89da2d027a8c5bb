//! One live conversation under a policy.

use super::asking::Answered;
use super::conversation::{Conversation, Pushed, detected};
use super::last_request::LastRequest;
use super::phase::{Phase, poll};
use super::state::{Op, State};
use super::step::Step;
use super::{LiveError, Options};
use crate::engine::{
    Case, KnobValues, Policy, Reply, ReportedUsage, Run, WindowPlan, WindowSource,
};
use crate::formats::live::{PLAIN, notation, parse_message};
use crate::presets;
use crate::progress::Progress;
use crate::session::{SessionBuilder, Source};
use crate::tokens::{TokenLedger, default_counter};
use crate::units::{Millis, Tokens};
use std::sync::{Arc, LazyLock};

/// One live conversation under a policy. [The module](crate::live) describes its use.
#[derive(Debug)]
pub struct Manager {
    policy: Policy,
    policy_text: String,
    knobs: KnobValues,
    options: Options,
    /// The conversation; none until its notation is known.
    conversation: Option<Conversation>,
    /// Messages that were pushed since the last step.
    pushed: Vec<Pushed>,
    /// Messages that were pushed while the notation is not known.
    unread: Vec<String>,
    /// The run, over a case without messages while nobody polls it.
    run: Option<Run<'static>>,
    phase: Phase,
    last_request: LastRequest,
    time: Option<Millis>,
    /// Actions of the program so far, for restoring.
    log: Vec<Op>,
    /// Warnings that were not returned yet.
    warnings: Vec<String>,
}

/// A case without messages and a policy without stages: where a run waits while the conversation grows.
static NOTHING: LazyLock<(Case, Policy)> = LazyLock::new(|| {
    let source = Source { name: String::new(), format: PLAIN, bytes: Vec::new().into() };
    let session = SessionBuilder::new(source).finish();
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default());
    let ledger = ledger.expect("nobody can cancel it");
    let windows = WindowPlan::constant(Tokens::ZERO, 1, WindowSource::User);
    let policy = presets::by_name("none").expect("a test parses every bundled preset");
    (Case::new(Arc::new(session), ledger, windows), policy)
});

/// The largest count that a report may state: far above any window, and far from an overflow of sums.
const MAX_TOKENS: u64 = 1 << 40;

impl Manager {
    /// Creates a manager for an empty conversation. `policy` is the name of a preset, or a policy as TOML.
    ///
    /// # Errors
    /// [`LiveError`] names the preset, setting or option that is wrong.
    pub fn new(policy: &str, options: Options) -> Result<Self, LiveError> {
        let bundled = presets::PRESETS.iter().find(|preset| preset.name == policy);
        if bundled.is_none() && !policy.contains(['=', '\n']) {
            if policy.rsplit_once('.').is_some_and(|(_, extension)| extension == "toml") {
                let why =
                    format!("{policy:?} is the path of a policy file: pass the text of the file");
                return Err(LiveError::Option(why));
            }
            let (name, known) = (policy.to_owned(), presets::PRESETS.iter());
            let presets = known.map(|preset| preset.name).collect();
            return Err(LiveError::UnknownPreset { name, presets });
        }
        let text = bundled.map_or(policy, |preset| preset.toml);
        let named = bundled.map_or("the policy", |preset| preset.name);
        let wrong = |policy: &str| {
            let policy = policy.to_owned();
            move |error| LiveError::Policy { policy, error }
        };
        let parsed = presets::parse(text).map_err(wrong(named))?;
        let mut knobs = parsed.defaults();
        for (name, value) in &options.settings {
            parsed.set(&mut knobs, name, *value).map_err(wrong(&parsed.name))?;
        }
        if options.window == 0 {
            return Err(LiveError::Option("the window must have at least one token".to_owned()));
        }
        let reserve = parsed.output_reserve(&knobs, &NOTHING.0, 0).0;
        let is_full = reserve >= options.window && !parsed.stages.is_empty();
        let warning = is_full.then(|| {
            format!(
                "{}: the output reserve of {reserve} leaves no usable tokens in a window of {}; set output_reserve",
                parsed.name, options.window
            )
        });
        let conversation = match &options.format {
            Some(format) => Some(Conversation::new(format, &options, &parsed.meter)?),
            None => None,
        };
        // Wrong options are reported now, not at the first step.
        Conversation::new(PLAIN, &options, &parsed.meter)?;
        Ok(Self {
            policy: parsed,
            policy_text: policy.to_owned(),
            knobs,
            options,
            conversation,
            pushed: Vec::new(),
            unread: Vec::new(),
            run: None,
            phase: Phase::Due,
            last_request: LastRequest::default(),
            time: None,
            log: Vec::new(),
            warnings: warning.into_iter().collect(),
        })
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        let known = self.conversation.as_ref().map_or(0, Conversation::n_messages);
        known + self.pushed.len() + self.unread.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a message, as JSON in the program's notation. Returns the number of messages.
    ///
    /// # Errors
    /// [`LiveError::Message`] if it is no message of this notation; [`LiveError::Order`] while a summary is awaited.
    pub fn push(&mut self, message: &str) -> Result<usize, LiveError> {
        self.check()?;
        if let Phase::Asked(_) = self.phase {
            return Err(LiveError::Order(
                "a summary is awaited: answer it before the next message",
            ));
        }
        let number = self.len();
        self.change_notation(message)?;
        if let Some(conversation) = &mut self.conversation {
            self.pushed.push(conversation.read(message, number)?);
        } else {
            let error = |reason: String| LiveError::Message { number: number + 1, reason };
            parse_message(message).map_err(error)?;
            self.unread.push(message.to_owned());
        }
        self.log.push(Op::Push);
        self.phase = Phase::Due;
        Ok(number + 1)
    }

    /// Sets the time of the next request, in milliseconds since 1970. Policies that act on a cold cache need it; without
    /// it, calls are assumed to follow each other at the usual pace.
    pub fn set_time(&mut self, time: Millis) {
        self.time = Some(time);
    }

    /// Records the usage that the provider reported for the last request: the whole input, cached or not, and the answer.
    /// May arrive before or after the messages of the answer, but before the next step.
    ///
    /// # Errors
    /// [`LiveError::Order`] if no request was built.
    pub fn report(&mut self, input: u64, output: Option<u64>) -> Result<(), LiveError> {
        self.check()?;
        if let Phase::Asked(_) = self.phase {
            return Err(LiveError::Order(
                "a summary is awaited: usage of its request is not reported here",
            ));
        }
        if input.max(output.unwrap_or(0)) > MAX_TOKENS {
            return Err(LiveError::Option(format!(
                "a usage of {input} tokens is no count of a request"
            )));
        }
        let Some(run) = &mut self.run else {
            return Err(LiveError::Order("usage belongs to a request: call step first"));
        };
        run.report(ReportedUsage { input: Tokens(input), output: Tokens(output.unwrap_or(0)) });
        self.log.push(Op::Report { input, output });
        Ok(())
    }

    /// Records that the provider rejected the last request, with the text of its error. The next step returns what the
    /// policy makes of it.
    ///
    /// # Errors
    /// [`LiveError::Order`] if the last step was no request, or messages were pushed since.
    pub fn reject(&mut self, error: &str) -> Result<(), LiveError> {
        self.check()?;
        let (Phase::Ready(_), Some(conversation)) = (&self.phase, &self.conversation) else {
            return Err(LiveError::Order("no request waits for a response: call step first"));
        };
        self.phase = Phase::Failed;
        if let Some(run) = self.run.take() {
            let mut run = run.moved_to(conversation.case(), &self.policy);
            run.reject_with(error);
            self.run = Some(run.moved_to(&NOTHING.0, &NOTHING.1));
        }
        self.log.push(Op::Reject { error: error.to_owned() });
        self.phase = Phase::Due;
        Ok(())
    }

    /// Forgets the messages from this number on, and what was decided after the first of them was pushed: the program rewound
    /// its conversation, or continues another branch of it. If these are only the messages that were added for the last
    /// request, what was decided at that request stays.
    ///
    /// # Errors
    /// [`LiveError::State`] if the remaining decisions do not repeat, which would be a defect.
    pub fn truncate(&mut self, n_messages: usize) -> Result<(), LiveError> {
        self.check()?;
        if n_messages < self.len() {
            let state = self.saved().truncated(n_messages);
            *self = Self::repeated(&state, &[], true)?;
        }
        Ok(())
    }

    /// Returns the next request, or what a summary needs. Without anything new, the answer is that of the last time.
    ///
    /// # Errors
    /// [`LiveError`] if a message cannot be read, or the context cannot be written in the program's notation.
    pub fn step(&mut self) -> Result<Step, LiveError> {
        match &self.phase {
            Phase::Ready(ready) => return Ok(Step::Ready((**ready).clone())),
            Phase::Asked(asking) => {
                let number = |message| self.conversation.as_ref()?.number(message);
                return Ok(Step::Summarize(asking.ask(number)));
            }
            Phase::Failed => return Err(LiveError::Failed),
            Phase::Due => {}
        }
        self.read_unread()?;
        let is_new = !self.pushed.is_empty() || self.run.is_none();
        let Some(conversation) = &mut self.conversation else {
            return Err(LiveError::Order("there are no messages yet"));
        };
        if conversation.n_messages() + self.pushed.len() == 0 {
            return Err(LiveError::Order("there are no messages yet"));
        }
        self.phase = Phase::Failed;
        let time = self.time.take();
        let (op, is_next) = if is_new {
            let is_next = conversation.add(std::mem::take(&mut self.pushed), time);
            (Op::Step { time: time.map(|time| time.0) }, Some(is_next))
        } else {
            (Op::Again, None)
        };
        let (case, policy) = (conversation.case(), &self.policy);
        let mut run = match self.run.take() {
            Some(run) => run.moved_to(case, policy),
            None => Run::live(case, policy, &self.knobs, self.options.calibration.is_none()),
        };
        if let Some(is_next) = is_next {
            run.continue_to(case.session.calls.len() - 1, is_next);
        }
        let polled = poll(conversation, &mut run, self.options.window, &mut self.last_request);
        self.run = Some(run.moved_to(&NOTHING.0, &NOTHING.1));
        // Also if the context cannot be written: the run went on.
        self.log.push(op);
        self.phase = Phase::Due;
        let (phase, mut step) = polled?;
        if let Step::Ready(ready) = &mut step {
            ready.warnings.append(&mut self.warnings);
        }
        self.phase = phase;
        Ok(step)
    }

    /// Answers a summary request with the text that the model wrote. Returns the reason if the policy rejects it.
    ///
    /// # Errors
    /// [`LiveError::Order`] if no summary is awaited.
    pub fn answer(&mut self, text: &str) -> Result<Option<String>, LiveError> {
        self.check()?;
        let Phase::Asked(asking) = &mut self.phase else {
            return Err(LiveError::Order("no summary is awaited: call step first"));
        };
        let answered = asking.answer(text);
        let rejected = self.provide(answered);
        self.log.push(Op::Answer { text: text.to_owned() });
        Ok(rejected)
    }

    /// Answers a summary request with the reason why there is no text. The policy defines what follows. A prompt that was
    /// too long is asked again in smaller parts.
    ///
    /// # Errors
    /// [`LiveError::Order`] if no summary is awaited.
    pub fn fail(&mut self, why: &str) -> Result<(), LiveError> {
        self.check()?;
        let (Phase::Asked(asking), Some(conversation)) = (&mut self.phase, &self.conversation)
        else {
            return Err(LiveError::Order("no summary is awaited: call step first"));
        };
        let answered = asking.fail(conversation.case(), why);
        self.provide(answered);
        self.log.push(Op::Fail { why: why.to_owned() });
        Ok(())
    }

    /// Returns the state as JSON, for [`Self::restore`]. It contains the messages: keep it as private as the conversation.
    pub fn state(&self) -> String {
        self.saved().to_json()
    }

    /// Returns the state without the messages, for programs that store them themselves.
    pub fn decisions(&self) -> String {
        self.saved().without_messages().to_json()
    }

    /// Restores a manager from its state. `messages` are those of the program, which a state without messages needs.
    ///
    /// # Errors
    /// [`LiveError::State`] if the state is of another version, or other messages belong to it.
    pub fn restore(state: &str, messages: &[&str]) -> Result<Self, LiveError> {
        Self::repeated(&State::from_json(state)?, messages, false)
    }

    /// Repeats what a program did. With `is_rewound`, what needs a removed message is left out.
    fn repeated(state: &State, given: &[&str], is_rewound: bool) -> Result<Self, LiveError> {
        let messages = state.known_messages(given)?;
        let mut manager = Self::new(&state.policy, state.options.clone())?;
        let mut next = messages.into_iter();
        for op in &state.log {
            let message = if *op == Op::Push { next.next() } else { None };
            match manager.apply(op, message) {
                Err(LiveError::Order(_)) if is_rewound => {}
                // The program continued after an error in writing, too.
                Ok(()) | Err(LiveError::Write(_)) => {}
                Err(error) => {
                    return Err(LiveError::State(format!(
                        "the policy now decides otherwise: {error}"
                    )));
                }
            }
        }
        Ok(manager)
    }

    /// Repeats one thing that a program did.
    fn apply(&mut self, op: &Op, message: Option<&str>) -> Result<(), LiveError> {
        match op {
            Op::Push => {
                let missing = || LiveError::State("a message is missing".to_owned());
                self.push(message.ok_or_else(missing)?)?;
            }
            Op::Step { time } => {
                self.time = time.map(Millis);
                self.step()?;
            }
            Op::Again => _ = self.step()?,
            Op::Answer { text } => _ = self.answer(text)?,
            Op::Fail { why } => self.fail(why)?,
            Op::Report { input, output } => self.report(*input, *output)?,
            Op::Reject { error } => self.reject(error)?,
        }
        Ok(())
    }

    fn saved(&self) -> State {
        let known = self.conversation.iter().flat_map(|conversation| {
            (0..conversation.n_messages()).map(|number| conversation.text(number))
        });
        let pushed = self.pushed.iter().map(|pushed| pushed.text.clone());
        let messages = known.chain(pushed).chain(self.unread.iter().cloned()).collect();
        State::new(self.policy_text.clone(), self.options.clone(), messages, self.log.clone())
    }

    /// Reads the messages that wait for their notation to be known.
    fn read_unread(&mut self) -> Result<(), LiveError> {
        if self.conversation.is_some() || self.unread.is_empty() {
            return Ok(());
        }
        let format = detected(&self.unread);
        let mut conversation = Conversation::new(format, &self.options, &self.policy.meter)?;
        let read: Result<Vec<Pushed>, LiveError> = self
            .unread
            .iter()
            .enumerate()
            .map(|(number, text)| conversation.read(text, number))
            .collect();
        self.pushed = read?;
        self.unread.clear();
        self.conversation = Some(conversation);
        Ok(())
    }

    /// Reads the conversation again if it was a list of plain texts so far and this message has another notation.
    fn change_notation(&mut self, message: &str) -> Result<(), LiveError> {
        let is_open = self.options.format.is_none()
            && self
                .conversation
                .as_ref()
                .is_some_and(|conversation| conversation.format() == PLAIN);
        let value = || parse_message(message).ok();
        let other = is_open.then(value).flatten().and_then(|value| notation(&value));
        if let Some(other) = other.filter(|other| *other != PLAIN) {
            let mut state = self.saved();
            state.set_format(other);
            let time = self.time;
            // The notation may count what the request contains otherwise, so a decision may be asked for again.
            *self = Self { time, ..Self::repeated(&state, &[], true)? };
        }
        Ok(())
    }

    fn provide(&mut self, answered: Answered) -> Option<String> {
        let Answered::Reply(reply) = answered else {
            return None;
        };
        self.phase = Phase::Failed;
        let rejected = self.provide_reply(reply);
        self.phase = Phase::Due;
        rejected
    }

    fn provide_reply(&mut self, reply: Reply) -> Option<String> {
        let (conversation, run) = (self.conversation.as_ref()?, self.run.take()?);
        let mut run = run.moved_to(conversation.case(), &self.policy);
        let rejected = run.provide(reply);
        self.run = Some(run.moved_to(&NOTHING.0, &NOTHING.1));
        rejected
    }

    /// Rejects every call after one that did not return: the run that it had is lost.
    fn check(&self) -> Result<(), LiveError> {
        if let Phase::Failed = self.phase { Err(LiveError::Failed) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{PendingRequest, Replies};
    use crate::engine::{ActionKind, NamedAction, Registry, Rewrite, RewriteInput, Rewritten};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[derive(Debug)]
    struct Defect;

    impl Rewrite for Defect {
        fn rewrite(
            &self,
            _: RewriteInput<'_>,
            _: &mut Replies<'_>,
        ) -> Result<Rewritten, PendingRequest> {
            panic!("a defect")
        }
    }

    static ACTIONS: [NamedAction; 1] =
        [NamedAction::new("fail", ActionKind::Drop, "", |_| Ok(Arc::new(Defect)))];
    static REGISTRY: Registry = Registry { actions: &[&ACTIONS], meters: &[], windows: &[] };

    #[test]
    fn after_a_panic_every_call_is_an_error_and_the_state_is_that_before() {
        let text = "name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n[[stage]]\nid = \"it\"\nat = \"before_call\"\nwhen = \"used > 0\"\ndo = { named = \"fail\" }";
        let mut manager = Manager::new("truncate", Options::new(10_000)).expect("a preset");
        manager.policy = Policy::parse(text, &REGISTRY).expect("a policy");
        manager.push(r#"{"role":"user","content":"Hello."}"#).expect("a message");
        assert!(catch_unwind(AssertUnwindSafe(|| manager.step())).is_err());
        let errors = [
            manager.step().err(),
            manager.push("{}").err(),
            manager.report(1, None).err(),
            manager.reject("too long").err(),
            manager.answer("text").err(),
            manager.fail("no model").err(),
            manager.truncate(0).err(),
        ];
        for error in errors {
            assert!(matches!(error, Some(LiveError::Failed)), "{error:?}");
        }
        let mut restored = Manager::restore(&manager.state(), &[]).expect("a state");
        assert_eq!(restored.len(), 1);
        assert!(matches!(restored.step(), Ok(Step::Ready(_))));
    }
}
