"""`segue completion`: print a script that completes the command line in a shell.

The scripts ask this command for the words that may come next: ``segue completion words TYPED…``, where the last word is
the one that is being typed. It prints one candidate per line, with a description after a tab; ``FILES`` alone asks the
shell to complete the names of files.
"""

import argparse
from collections.abc import Callable, Iterable

from ..catalog import Catalog
from ..errors import SegueError
from ..session import open_store
from .printable import one_line
from .terminal import is_terminal, print_note, print_text

FILES = ":files"
Candidate = tuple[str, str]
"""A word, and its description."""

BASH = r"""_segue() {
    local line typed word prefix
    local -a words
    COMPREPLY=()
    IFS=' ' read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *' ' ]] && words+=('')
    typed="${words[${#words[@]}-1]}"
    prefix="${typed%"${typed##*[:=]}"}"
    while IFS=$'\t' read -r word _; do
        if [[ "$word" == ':files' ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$typed")
        elif [[ -n "$word" ]]; then
            COMPREPLY+=("${word#"$prefix"}")
        fi
    done < <("${words[0]}" completion words "${words[@]:1}" 2>/dev/null)
}
complete -F _segue segue
"""

ZSH = r"""#compdef segue
_segue() {
    local line
    local -a found described
    found=("${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ "${found[1]}" == ':files' ]]; then
        _files
        return
    fi
    for line in "${found[@]}"; do
        [[ -n "$line" ]] && described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe -V 'segue' described
}
if [[ "${funcstack[1]}" == '_segue' ]]; then
    _segue "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef _segue segue
fi
"""

FISH = r"""function __segue_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l found ($typed[1] completion words $typed[2..-1] 2>/dev/null)
    if test "$found[1]" = ':files'
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c segue -f -k -a '(__segue_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
USE = {
    "bash": 'add this line to ~/.bashrc: eval "$(segue completion bash)"',
    "zsh": 'add this line to ~/.zshrc: eval "$(segue completion zsh)"',
    "fish": "run once: segue completion fish > ~/.config/fish/completions/segue.fish",
}
"""How each script is installed."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=(*SCRIPTS, "words"), help=", ".join(SCRIPTS))
    parser.add_argument("typed", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    if args.shell != "words":
        print_text(SCRIPTS[args.shell].rstrip("\n"))
        if is_terminal():
            print_note(USE[args.shell])
        return 0
    for word, about in candidates(args.typed or [""]):
        print_text(f"{one_line(word)}\t{one_line(about)}" if about else one_line(word))
    return 0


def candidates(typed: list[str]) -> list[Candidate]:
    """The words that the last of the typed words may become."""
    *before, word = typed
    parser, positionals, pending = _walk(before)
    if pending is not None:
        found = _values(pending)
    elif word.startswith("-"):
        found = _options(parser, before)
    else:
        found = [each for action in positionals[:1] for each in _values(action)]
        if not found and not word:
            found = _options(parser, before)
    return [each for each in found if each[0].startswith(word) or each[0] == FILES]


def _walk(words: list[str]) -> tuple[argparse.ArgumentParser, list[argparse.Action], argparse.Action | None]:
    """The parser that these words lead to, its positional arguments that are still open, and the option that waits for
    its value, if the last word is one."""
    from . import _parser

    parser = _parser(words)
    positionals = _positionals(parser)
    pending: argparse.Action | None = None
    for word in words:
        options = parser._option_string_actions
        if pending is not None:
            pending = None
        elif word in options:
            pending = options[word] if options[word].nargs != 0 else None
        elif not word.startswith("-") and positionals:
            action = positionals[0]
            if isinstance(action, argparse._SubParsersAction):
                if word not in action.choices:
                    return argparse.ArgumentParser(add_help=False), [], None  # nothing can follow
                parser = action.choices[word]
                positionals = _positionals(parser)
            elif action.nargs not in ("*", "+"):
                positionals = positionals[1:]
    return parser, positionals, pending


def _positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if not action.option_strings]


def _options(parser: argparse.ArgumentParser, used: Iterable[str]) -> list[Candidate]:
    shown = [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
    return [
        (action.option_strings[-1], (action.help or "").replace("%%", "%"))
        for action in shown
        if not set(action.option_strings).intersection(used)
    ]


def _values(action: argparse.Action) -> list[Candidate]:
    """The values that an option or a positional argument may have."""
    if isinstance(action, argparse._SubParsersAction):
        return [(each.dest, each.help or "") for each in action._choices_actions]
    if action.choices is not None:
        return [(str(choice), "") for choice in action.choices if choice != "words"]
    values = VALUES.get(str(action.metavar))
    return values() if values is not None else []


# -- values that depend on the user's catalog and sessions -------------------------------------------------------------


def _models() -> list[Candidate]:
    from .demo import demo_models

    catalog = Catalog.default()
    demos = [(model.ref, model.name) for model in demo_models()]
    return [*demos, *((ref, row.name) for ref, row in catalog.models.items())]


def _providers() -> list[Candidate]:
    return [(each.id, each.name) for each in Catalog.default().providers.values()]


def _sessions() -> list[Candidate]:
    try:
        with open_store(None, create=False) as store:
            return [(info.id, info.title) for info in store.sessions()]
    except (SegueError, OSError):
        return []


def _files() -> list[Candidate]:
    return [(FILES, "")]


VALUES: dict[str, Callable[[], list[Candidate]]] = {
    "PROVIDER/MODEL": _models,
    "PROVIDER": _providers,
    "SESSION": _sessions,
    "FILE": _files,
    "DIR": _files,
    "WHERE": _files,
}
"""The values of arguments, by the name that help shows."""
