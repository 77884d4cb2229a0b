internal import ArgumentParser

/// The scripts for shells: those of the argument parser, with what they lack.
enum CompletionScript {
    /// The script with additions: the aliases of commands, the words after `help`, in bash words with “@”, “:” and “=”,
    /// and in zsh `--option=value`.
    static func extended(_ script: String, _ names: CommandNames) -> String {
        if script.hasPrefix("#compdef") { return zsh(script, names) }
        return script.hasPrefix("#!/bin/bash") ? bash(script, names) : script + fish(names)
    }

    /// bash breaks words at “@”, “:” and “=”, and replaces what is behind the break: the script gets the whole words, and its
    /// answers lose what stays. A file may have the name of a command or an app: whether words are names of files is told by the
    /// function that offers them.
    private static func bash(_ script: String, _ names: CommandNames) -> String {
        let aliases = names.aliases.map { alias in
            """
                if ((COMP_CWORD > \(alias.index))) && [[ "${COMP_WORDS[*]:1:\(alias.index)}" == '\(alias.words)' ]]; then
                    COMP_WORDS[\(alias.index)]=\(alias.name)
                fi

            """
        }.joined()
        let topics = names.helpTopics.map { topic in
            """
                '\(topic.words)')
                    COMPREPLY=($(compgen -W '\(topic.names.joined(separator: " "))' -- "${cur}"))
                    ;;

            """
        }.joined()
        let wrapper = """
            _ssoctl_with_whole_words() {
                local line="${COMP_LINE:0:COMP_POINT}" word
                local -a words=()
                local -i index last
                for ((index = 0; index <= COMP_CWORD; index++)); do
                    word="${COMP_WORDS[index]}"
                    last=$((${#words[@]} - 1))
                    if ((index > 0)) && [[ "${line}" != [[:space:]]* ]]; then
                        if [[ "${word}" == '=' && "${words[last]}" == --* ]]; then
                            # The value of an option.
                            words+=('')
                        else
                            words[last]+="${word}"
                        fi
                    else
                        line="${line#"${line%%[![:space:]]*}"}"
                        words+=("${word}")
                    fi
                    line="${line#"${word}"}"
                done

                local -i COMP_CWORD=$((${#words[@]} - 1))
                local kept='' cur="${words[COMP_CWORD]}" are_files=false
                if [[ "${cur}" == [\\"\\']* || "${cur}" != *"${2}" ]]; then
                    cur="${2}"
                elif [[ "${2}" != '=' ]]; then
                    kept="${cur%"${2}"}"
                fi
                words[COMP_CWORD]="${cur}"
                local -a COMP_WORDS=("${words[@]}")
                local IFS=$' \\t\\n'
                COMPREPLY=()
            \(aliases)    case "${COMP_WORDS[*]:1:COMP_CWORD - 1}" in
            \(topics)    *)
                    _ssoctl "${1}" "${cur}" "${COMP_WORDS[COMP_CWORD - 1]}"
                    ;;
                esac
                [[ "${#COMPREPLY[@]}" -gt 0 ]] || return
                if ! "${are_files}"; then
                    # Names of files are for bash to quote, and these are quoted as words of a command line.
                    compopt +o filenames 2>/dev/null
                    for index in "${!COMPREPLY[@]}"; do
                        COMPREPLY[index]="$(printf %q "${COMPREPLY[index]}")"
                    done
                fi
                COMPREPLY=("${COMPREPLY[@]#"${kept}"}")
            }

            """
        let registration = "complete -o filenames -F _ssoctl ssoctl"
        let addition = "__ssoctl_add_completions() {\n"
        return script.replacing(addition, with: addition + "    [[ \"${1}\" == -f ]] && are_files=true\n").replacing(
            registration, with: wrapper + "\ncomplete -o filenames -F _ssoctl_with_whole_words ssoctl")
    }

    /// In zsh, the parser's function gets the words that it knows. It knows no `--option=value`, which become two words.
    private static func zsh(_ script: String, _ names: CommandNames) -> String {
        let start = "if [[ \"${funcstack[1]}\" = _ssoctl ]]"
        guard let place = script.start(ofLast: start) else { return script }
        let aliases = names.aliases.map { alias in
            """
                if (( CURRENT > \(alias.index + 1) )) && [[ "${words[2,\(alias.index + 1)]}" = '\(alias.words)' ]]; then
                    words[\(alias.index + 1)]=\(alias.name)
                fi

            """
        }.joined()
        let topics = names.helpTopics.map { topic in
            """
                '\(topic.words)')
                    compadd -- \(topic.names.joined(separator: " "))
                    return
                    ;;

            """
        }.joined()
        let wrapper = """
            functions[__ssoctl_of_known_words]="${functions[_ssoctl]}"
            _ssoctl() {
                local -i index
                for (( index = 2; index < CURRENT; index++ )); do
                    [[ "${words[index]}" = -- ]] && break
                    if [[ "${words[index]}" = --*=* ]]; then
                        words[index]=("${words[index]%%=*}" "${words[index]#*=}")
                        (( CURRENT++, index++ ))
                    fi
                done
                if (( index == CURRENT )) && compset -P 1 '--*='; then
                    words[CURRENT]=("${words[CURRENT]%%=*}" "${words[CURRENT]#*=}")
                    (( CURRENT++ ))
                fi
            \(aliases)    case "${words[2,CURRENT - 1]}" in
            \(topics)    esac
                __ssoctl_of_known_words "${@}"
            }


            """
        return script[..<place] + wrapper + script[place...]
    }

    private static func fish(_ names: CommandNames) -> String {
        let aliases = names.aliases.map { alias in
            """
                if test (count $tokens) -ge \(alias.index + 1) -a "$tokens[2..\(alias.index + 1)]" = '\(alias.words)'
                    set tokens[\(alias.index + 1)] \(alias.name)
                end

            """
        }.joined()
        let topics = names.helpTopics.map { topic in
            "complete -c ssoctl -n '__ssoctl_is_behind \(topic.words)' -fa '\(topic.names.joined(separator: " "))'"
        }.joined(separator: "\n")
        return """

            functions --erase __ssoctl_typed_tokens
            functions --copy __ssoctl_tokens __ssoctl_typed_tokens
            function __ssoctl_tokens
                set -l tokens (__ssoctl_typed_tokens $argv)
            \(aliases)    string join \\n -- $tokens
            end
            function __ssoctl_is_behind
                set -l tokens (__ssoctl_tokens -pc)
                test "$tokens" = "ssoctl $argv"
            end
            \(topics)
            """
    }
}

extension String {
    /// The place at which the last occurrence of a text begins; nil if there is none.
    fileprivate func start(ofLast text: String) -> String.Index? { ranges(of: text).last?.lowerBound }
}

/// The names of commands that the argument parser's scripts do not complete: what an alias stands for, and what can follow `help`.
struct CommandNames {
    /// An alias of a command.
    struct Alias {
        /// The names of the commands above it, and the alias.
        let words: String
        /// The number of these words, and so the alias's place on the command line behind the program's name.
        let index: Int
        let name: String
    }

    /// What can follow some words that begin with `help`.
    struct HelpTopic {
        let words: String
        let names: [String]
    }

    /// The aliases; those of a command come before those of its subcommands.
    private(set) var aliases: [Alias] = []
    private(set) var helpTopics: [HelpTopic] = []

    /// - Parameter root: the configuration of the program's command.
    init(of root: CommandConfiguration) { add(root, []) }

    private mutating func add(_ command: CommandConfiguration, _ path: [String]) {
        let configurations = command.subcommands.map { $0.configuration }
        guard !configurations.isEmpty else { return }
        let names = configurations.compactMap(\.commandName)
        helpTopics.append(HelpTopic(words: (["help"] + path).joined(separator: " "), names: names))
        for subcommand in configurations {
            guard let name = subcommand.commandName else { continue }
            for alias in subcommand.aliases {
                let words = (path + [alias]).joined(separator: " ")
                aliases.append(Alias(words: words, index: path.count + 1, name: name))
            }
        }
        for subcommand in configurations { add(subcommand, path + [subcommand.commandName].compactMap(\.self)) }
    }
}
