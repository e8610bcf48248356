//! What a definition for this target may say: every key, placeholder and word of expressions with its meaning.

use planner::definition::command::keys;
use planner::expression::vocabulary;
use target_api::Topic;

use crate::place::{Place, Role};

/// Keys from the types that definitions are read into, placeholders from the table that fills them in, words of
/// expressions from the language itself: nothing is said twice.
pub(crate) fn guide() -> Vec<Topic> {
    let placeholders = Place::described().map(|(name, about)| {
        let place = Place::named(name);
        let also = place.is_some_and(|place| Role::Build.refuses(&place).is_none());
        let where_ = if also { "" } else { "; not in `build` and `env`" };
        (format!("{{{name}}}"), format!("{about}{where_}"))
    });
    let parameter = (
        "{PARAMETER}".to_owned(),
        "value of a parameter of this name; an argument in a list of its own, `[\"--fast\", \"{extra}\"]`, is left out \
         where a placeholder in it says nothing"
            .to_owned(),
    );
    vec![
        Topic {
            name: "key",
            entries: keys(),
        },
        Topic {
            name: "placeholder",
            entries: [parameter].into_iter().chain(placeholders).collect(),
        },
        Topic {
            name: "expression",
            entries: vocabulary(),
        },
    ]
}
