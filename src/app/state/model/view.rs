//! The view settings of all panels.
//!
//! Each panel defines a type for its settings, and nothing here knows these types: a value is found by its type. A panel
//! that needs settings adds a type in its own folder, and two accessors as in `cost/state.rs`.

use crate::app::state::model::tab::Tab;
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The view settings of all panels.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Open tab of the drawer.
    pub tab: Tab,
    /// Messages whose folds are open in the lanes.
    pub unfolded: BTreeSet<u32>,
    /// Text of the path field.
    pub path: String,
    /// The path dialog is open.
    pub asks_path: bool,
    /// The path dialog asks for the session to compare.
    pub asks_compared: bool,
    /// The list of shortcuts is open.
    pub shows_shortcuts: bool,
    /// The settings of panels that differ from their defaults.
    settings: BTreeMap<TypeId, Box<dyn AnySettings>>,
}

/// View settings of a panel.
pub trait ViewSettings: Any + Clone + Debug + Default + PartialEq + Send + Sync {}

impl<T: Any + Clone + Debug + Default + PartialEq + Send + Sync> ViewSettings for T {}

/// View settings of a panel whose type is not known.
trait AnySettings: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn cloned(&self) -> Box<dyn AnySettings>;
    fn equals(&self, other: &dyn AnySettings) -> bool;
}

impl<T: ViewSettings> AnySettings for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnySettings> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnySettings) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
}

impl Clone for Box<dyn AnySettings> {
    fn clone(&self) -> Self {
        (**self).cloned()
    }
}

impl View {
    /// Returns the settings of a type.
    pub fn get<T: ViewSettings>(&self) -> &T {
        let changed = self.settings.get(&TypeId::of::<T>());
        changed.and_then(|it| (**it).as_any().downcast_ref()).unwrap_or_else(|| default_of::<T>())
    }

    /// Returns the settings of a type, to change them.
    ///
    /// # Panics
    ///
    /// Never: a value is stored below its own type.
    pub fn get_mut<T: ViewSettings>(&mut self) -> &mut T {
        let stored =
            self.settings.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        (**stored).as_any_mut().downcast_mut().expect("a value is stored below its own type")
    }

    /// Executes a command.
    pub fn change(&mut self, command: ViewCommand) {
        let settings = command.0;
        self.settings.insert((*settings).as_any().type_id(), settings);
    }
}

/// Returns the default settings of a type. They live as long as the program, one value a type.
fn default_of<T: ViewSettings>() -> &'static T {
    type Defaults = BTreeMap<TypeId, &'static (dyn Any + Send + Sync)>;
    static DEFAULTS: LazyLock<Mutex<Defaults>> = LazyLock::new(Mutex::default);
    let mut defaults = DEFAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    let stored =
        *defaults.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::new(T::default())));
    stored.downcast_ref().expect("a value is stored below its own type")
}

/// A command that replaces the view settings of a panel.
#[derive(Clone, Debug)]
pub struct ViewCommand(Box<dyn AnySettings>);

impl ViewCommand {
    /// Creates a command that replaces the settings of this type.
    pub fn new(settings: impl ViewSettings) -> Self {
        Self(Box::new(settings))
    }

    /// Returns whether the command replaces the settings of a type.
    pub fn replaces<T: ViewSettings>(&self) -> bool {
        (*self.0).as_any().is::<T>()
    }
}

impl PartialEq for ViewCommand {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Page(u8);

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Order(u8);

    #[test]
    fn settings_are_found_by_their_type() {
        let mut view = View::default();
        assert_eq!((view.get::<Page>(), view.get::<Order>()), (&Page(0), &Order(0)));
        view.change(ViewCommand::new(Page(2)));
        view.get_mut::<Order>().0 += 1;
        let copy = view.clone();
        view.get_mut::<Page>().0 = 3;
        assert_eq!((copy.get::<Page>(), copy.get::<Order>()), (&Page(2), &Order(1)));
        assert_eq!(view.get::<Page>(), &Page(3));
    }

    #[test]
    fn commands_compare_by_type_and_value() {
        let page = ViewCommand::new(Page(2));
        assert_eq!(page, ViewCommand::new(Page(2)));
        assert_ne!(page, ViewCommand::new(Page(1)));
        assert_ne!(page, ViewCommand::new(Order(2)));
        assert!(page.replaces::<Page>() && !page.replaces::<Order>());
    }
}
