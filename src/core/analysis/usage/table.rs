//! Sums of recorded usage by a key.

use super::period::Days;
use super::{ContextFit, Period, RecordedUsage, UsedCall};
use crate::analysis::cost::Cause;
use crate::units::{Millis, Share, Tokens, Usd};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A block of time in milliseconds, as people with a subscription of five hours look at them.
const BLOCK: i64 = 5 * HOUR;
const HOUR: i64 = 3_600_000;

/// The key of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageKey {
    /// A row for each day, week or month with a call.
    Period(Period),
    /// A row for each five hours with a call: a block begins with the hour of the first call after the last block.
    Block,
    /// A row for each project.
    Project,
    /// A row for each model.
    Model,
    /// A row for each agent.
    Agent,
}

impl UsageKey {
    /// All keys, in order.
    pub const ALL: [Self; 7] = [
        Self::Period(Period::Day),
        Self::Period(Period::Week),
        Self::Period(Period::Month),
        Self::Block,
        Self::Project,
        Self::Model,
        Self::Agent,
    ];

    /// Returns the key of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Period(Period::Day) => "day",
            Self::Period(Period::Week) => "week",
            Self::Period(Period::Month) => "month",
            Self::Block => "block",
            Self::Project => "project",
            Self::Model => "model",
            Self::Agent => "agent",
        }
    }

    /// Describes the rows.
    pub fn help(self) -> &'static str {
        match self {
            Self::Period(Period::Day) => "One row per day",
            Self::Period(Period::Week) => "One row per week from Monday",
            Self::Period(Period::Month) => "One row per calendar month",
            Self::Block => {
                "One row per five hours; a block begins with the hour of the first call after the last block"
            }
            Self::Project => "One row per folder in which an agent worked",
            Self::Model => "One row per model",
            Self::Agent => "One row per agent",
        }
    }

    /// Returns whether the rows are times.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Period(_) | Self::Block)
    }
}

impl Default for UsageKey {
    fn default() -> Self {
        Self::Period(Period::Day)
    }
}

/// A session with what its calls used.
#[derive(Clone, Copy, Debug)]
pub struct UsedSession<'a> {
    /// Names the session: conversations of one session, such as its sub-agents, share it.
    pub session: usize,
    /// Project; empty if not recorded.
    pub project: &'a str,
    /// Name of the agent.
    pub agent: &'a str,
    /// Time of a call whose own time is not recorded.
    pub time: Option<Millis>,
    /// The calls.
    pub usage: &'a RecordedUsage,
}

/// Sums over calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRow {
    /// Value of the key: a date, a time, or a name. Empty if not recorded.
    pub key: String,
    /// Number of sessions with a call in the row.
    pub sessions: usize,
    /// Number of calls.
    pub calls: usize,
    /// Number of calls that the provider rejected as too long; part of `calls`.
    pub rejected: usize,
    /// Prompts in tokens, cached or not.
    pub input: Tokens,
    /// Prompts of the calls that record cache reads, in tokens.
    pub input_with_cache: Tokens,
    /// Tokens read from the cache.
    pub cache_read: Tokens,
    /// Tokens written to the cache.
    pub cache_write: Tokens,
    /// Number of calls that record how many tokens they wrote to the cache.
    pub n_cache_writes: usize,
    /// Tokens of answers.
    pub output: Tokens,
    /// Part of the answers that is recorded as reasoning.
    pub reasoning: Tokens,
    /// Number of answers whose size is counted from the text.
    pub estimated_outputs: usize,
    /// Number of calls without recorded usage.
    pub estimated_inputs: usize,
    /// Cost of the calls with a known price.
    pub usd: Usd,
    /// Number of calls without a known price.
    pub unpriced: usize,
    /// Number of calls with a large cache miss.
    pub misses: usize,
    /// Tokens of these misses.
    pub miss_tokens: Tokens,
    /// Cost of these misses above cache reads, as far as prices are known.
    pub miss_usd: Usd,
    /// Number of misses without a known price.
    pub unpriced_misses: usize,
    /// Tokens of the misses by cause.
    pub miss_causes: BTreeMap<Cause, Tokens>,
    /// Number of recorded compactions.
    pub compactions: usize,
    /// Number of calls whose context was larger than the window.
    pub overflows: usize,
    /// Largest context as a share of the usable window.
    pub peak: Share,
    /// Models, in order of the alphabet.
    pub models: BTreeSet<String>,
}

impl UsageRow {
    /// Returns the share of the prompts that was read from the cache; `None` if no call records it.
    pub fn cached_share(&self) -> Option<Share> {
        (self.input_with_cache > Tokens::ZERO)
            .then(|| self.cache_read.share_of(self.input_with_cache))
    }

    /// Returns the tokens read from the cache; `None` if no call records them.
    pub fn known_cache_read(&self) -> Option<Tokens> {
        (self.input_with_cache > Tokens::ZERO).then_some(self.cache_read)
    }

    /// Returns the tokens written to the cache; `None` if no call records them.
    pub fn known_cache_write(&self) -> Option<Tokens> {
        (self.n_cache_writes > 0).then_some(self.cache_write)
    }

    /// Returns the cost; `None` if no call has a known price.
    pub fn cost(&self) -> Option<Usd> {
        (self.calls > self.unpriced).then_some(self.usd)
    }

    /// Returns what the misses cost; `None` if no price is known.
    pub fn miss_cost(&self) -> Option<Usd> {
        (self.misses > self.unpriced_misses).then_some(self.miss_usd)
    }

    /// Returns the cause with the most tokens.
    pub fn top_cause(&self) -> Option<Cause> {
        let most = self.miss_causes.iter().max_by_key(|(_, tokens)| **tokens);
        most.map(|(cause, _)| *cause)
    }

    /// Adds what other calls used. The numbers of sessions are added, so the rows must not share one.
    pub fn merge(&mut self, other: &Self) {
        // Every field is named, so that none is forgotten.
        let Self {
            key: _,
            sessions,
            calls,
            rejected,
            input,
            input_with_cache,
            cache_read,
            cache_write,
            n_cache_writes,
            output,
            reasoning,
            estimated_outputs,
            estimated_inputs,
            usd,
            unpriced,
            misses,
            miss_tokens,
            miss_usd,
            unpriced_misses,
            miss_causes,
            compactions,
            overflows,
            peak,
            models,
        } = other;
        self.sessions += sessions;
        self.calls += calls;
        self.rejected += rejected;
        self.input += *input;
        self.input_with_cache += *input_with_cache;
        self.cache_read += *cache_read;
        self.cache_write += *cache_write;
        self.n_cache_writes += n_cache_writes;
        self.output += *output;
        self.reasoning += *reasoning;
        self.estimated_outputs += estimated_outputs;
        self.estimated_inputs += estimated_inputs;
        self.usd += *usd;
        self.unpriced += unpriced;
        self.misses += misses;
        self.miss_tokens += *miss_tokens;
        self.miss_usd += *miss_usd;
        self.unpriced_misses += unpriced_misses;
        for (cause, tokens) in miss_causes {
            *self.miss_causes.entry(*cause).or_default() += *tokens;
        }
        self.compactions += compactions;
        self.overflows += overflows;
        self.peak = larger_peak(self.peak, *peak);
        self.models.extend(models.iter().cloned());
    }

    fn add(&mut self, call: &UsedCall, model: Option<&String>, pressure: Share) {
        self.calls += 1;
        self.rejected += usize::from(call.fit == ContextFit::Rejected);
        self.input += call.input;
        if let Some(read) = call.cache_read {
            self.input_with_cache += call.input;
            self.cache_read += read;
        }
        if let Some(write) = call.cache_write {
            self.n_cache_writes += 1;
            self.cache_write += write;
        }
        self.output += call.output;
        self.reasoning += call.reasoning.unwrap_or_default();
        self.estimated_outputs += usize::from(call.is_output_estimated);
        self.estimated_inputs += usize::from(call.is_input_estimated);
        match call.usd {
            Some(usd) => self.usd += usd,
            None => self.unpriced += 1,
        }
        if let Some(miss) = call.miss {
            self.misses += 1;
            self.miss_tokens += miss.tokens;
            *self.miss_causes.entry(miss.cause).or_default() += miss.tokens;
            match miss.usd {
                Some(usd) => self.miss_usd += usd,
                None => self.unpriced_misses += 1,
            }
        }
        self.compactions += call.compactions;
        self.overflows += usize::from(call.overflows());
        self.peak = larger_peak(self.peak, pressure);
        if let Some(model) = model.filter(|model| !self.models.contains(*model)) {
            self.models.insert(model.clone());
        }
    }
}

/// The question that a table answers.
#[derive(Clone, Debug)]
pub struct UsageQuery {
    /// Key of the rows.
    pub key: UsageKey,
    /// Time zone of days and blocks.
    pub zone: TimeZone,
    /// First day; `None`: from the first call on.
    pub since: Option<Date>,
    /// Last day; `None`: up to the last call.
    pub until: Option<Date>,
    /// Tokens of each window that are kept for the answer.
    pub output_reserve: Tokens,
}

impl UsageQuery {
    /// Returns whether the calls of a day count. Calls without a time count only if no day is excluded.
    fn includes(&self, day: Option<Date>) -> bool {
        let is_after = |since: Date| day.is_some_and(|day| day >= since);
        let is_before = |until: Date| day.is_some_and(|day| day <= until);
        self.since.is_none_or(is_after) && self.until.is_none_or(is_before)
    }
}

/// Usage of many sessions by a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageTable {
    /// The rows: periods in order, others by cost and then by input, largest first.
    pub rows: Vec<UsageRow>,
    /// Sums over all rows.
    pub total: UsageRow,
    /// Number of counted calls that another conversation contains too.
    pub copies: usize,
}

/// A row in the making: sessions are counted once.
#[derive(Default)]
struct GrowingRow {
    row: UsageRow,
    last_session: Option<usize>,
    sessions: HashSet<usize>,
}

impl GrowingRow {
    fn add(&mut self, session: usize, call: &UsedCall, model: Option<&String>, pressure: Share) {
        self.row.add(call, model, pressure);
        // Calls of a session follow each other.
        if self.last_session.replace(session) != Some(session) {
            self.sessions.insert(session);
        }
    }

    fn finish(mut self, key: String) -> UsageRow {
        self.row.key = key;
        self.row.sessions = self.sessions.len();
        self.row
    }
}

impl UsageTable {
    /// Sums the calls of the sessions. A call that two sessions contain counts in the one that begins first.
    pub fn new(sessions: &[UsedSession<'_>], query: &UsageQuery) -> Self {
        let (calls, repeated) = distinct(sessions);
        let mut days = Days::new(query.zone.clone());
        let mut rows: HashMap<RowKey<'_>, GrowingRow> = HashMap::new();
        let (mut total, mut copies) = (GrowingRow::default(), 0);
        let blocks = if query.key == UsageKey::Block { blocks(&calls) } else { Vec::new() };
        for DistinctCall { of, call, time, .. } in calls {
            let day = time.and_then(|time| days.of(time));
            if !query.includes(day) {
                continue;
            }
            copies += usize::from(call.identity.is_some_and(|id| repeated.contains(&id)));
            let model = call.model.and_then(|model| of.usage.models.get(model));
            let row = match query.key {
                UsageKey::Period(period) => RowKey::Day(day.and_then(|day| period.start(day))),
                UsageKey::Block => RowKey::Time(time.map(|time| block_of(&blocks, time))),
                UsageKey::Project => RowKey::Name(of.project),
                UsageKey::Model => RowKey::Name(model.map_or("", String::as_str)),
                UsageKey::Agent => RowKey::Name(of.agent),
            };
            let pressure = call.pressure(query.output_reserve);
            rows.entry(row).or_default().add(of.session, call, model, pressure);
            total.add(of.session, call, model, pressure);
        }
        let mut rows: Vec<(RowKey<'_>, UsageRow)> = rows
            .into_iter()
            .map(|(key, row)| {
                let name = key.text(&query.zone);
                (key, row.finish(name))
            })
            .collect();
        rows.sort_by(|(a, one), (b, other)| {
            let by_size = || {
                let size = |row: &UsageRow| (row.usd.0, row.input.as_f64());
                let (one, other) = (size(one), size(other));
                other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
            };
            match (a, b) {
                (RowKey::Name(_), RowKey::Name(_)) => by_size().then(a.cmp(b)),
                _ => a.cmp(b),
            }
        });
        Self {
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            total: total.finish(String::new()),
            copies,
        }
    }
}

/// Returns what each of these conversations used, without calls that another one contains and that begins first.
pub fn usage_of_each(sessions: &[UsedSession<'_>], output_reserve: Tokens) -> Vec<UsageRow> {
    let mut rows = vec![UsageRow::default(); sessions.len()];
    for DistinctCall { idx, of, call, .. } in distinct(sessions).0 {
        let model = call.model.and_then(|model| of.usage.models.get(model));
        rows[idx].add(call, model, call.pressure(output_reserve));
    }
    rows
}

/// The key of a row. Rows without a time are first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RowKey<'a> {
    Day(Option<Date>),
    Time(Option<i64>),
    Name(&'a str),
}

impl RowKey<'_> {
    fn text(self, zone: &TimeZone) -> String {
        match self {
            Self::Day(day) => day.map(|day| day.to_string()).unwrap_or_default(),
            Self::Time(time) => {
                let moment = time.and_then(|time| Timestamp::from_millisecond(time).ok());
                let local = moment.map(|moment| moment.to_zoned(zone.clone()).datetime());
                local.map(|local| local.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
            }
            Self::Name(name) => name.to_owned(),
        }
    }
}

/// A call that no earlier session contains.
struct DistinctCall<'a, 's> {
    /// Index of its session.
    idx: usize,
    of: &'a UsedSession<'s>,
    call: &'a UsedCall,
    /// Its time, or that of its session.
    time: Option<Millis>,
}

/// Returns the calls of the sessions without copies, and the identities of those that several conversations contain.
fn distinct<'a, 's>(sessions: &'a [UsedSession<'s>]) -> (Vec<DistinctCall<'a, 's>>, HashSet<u64>) {
    // Unknown times are last: a copy often lacks what its original has. Of two that begin together, the copy goes on.
    let span = |session: &UsedSession<'_>| {
        let times = || session.usage.calls.iter().filter_map(|call| call.time);
        let first = times().next().or(session.time).map_or(i64::MAX, |time| time.0);
        (first, times().next_back().map(|time| time.0))
    };
    let mut order: Vec<((i64, Option<i64>), usize)> =
        sessions.iter().enumerate().map(|(idx, session)| (span(session), idx)).collect();
    order.sort_unstable();
    let n: usize = sessions.iter().map(|session| session.usage.calls.len()).sum();
    let (mut calls, mut repeated) = (Vec::with_capacity(n), HashSet::new());
    // The conversation of each call.
    let mut known: HashMap<u64, usize> = HashMap::with_capacity(n);
    for (_, idx) in order {
        let of = &sessions[idx];
        let mut time = of.usage.calls.iter().find_map(|call| call.time).or(of.time);
        for call in &of.usage.calls {
            if let Some(identity) = call.identity {
                match known.entry(identity) {
                    Entry::Vacant(free) => _ = free.insert(idx),
                    Entry::Occupied(first) => {
                        repeated.extend((*first.get() != idx).then_some(identity));
                        continue;
                    }
                }
            }
            time = call.time.or(time);
            calls.push(DistinctCall { idx, of, call, time });
        }
    }
    (calls, repeated)
}

/// Returns the larger of two peaks. A window that is smaller than the output reserve has an infinite peak, which counts only
/// without another: it says nothing about the other calls.
fn larger_peak(one: Share, other: Share) -> Share {
    match (one.0.is_finite(), other.0.is_finite()) {
        (true, false) if one.0 > 0.0 => one,
        (false, true) if other.0 > 0.0 => other,
        _ => Share(one.0.max(other.0)),
    }
}

/// Returns the starts of the blocks, in order.
fn blocks(calls: &[DistinctCall<'_, '_>]) -> Vec<i64> {
    let mut times: Vec<i64> = calls.iter().filter_map(|call| Some(call.time?.0)).collect();
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    for time in times {
        if starts.last().is_none_or(|start| time >= start.saturating_add(BLOCK)) {
            starts.push(time - time.rem_euclid(HOUR));
        }
    }
    starts
}

/// Returns the start of the block of a time.
fn block_of(blocks: &[i64], time: Millis) -> i64 {
    let next = blocks.partition_point(|start| *start <= time.0);
    blocks[next.saturating_sub(1)]
}
