internal import ArgumentParser

/// The scripts for shells: those of the argument parser, with what they lack.
enum CompletionScript {
    /// The script, which knows the aliases of commands too, and in bash words with “@”, “:” and “=”.
    ///
    /// - Parameter aliases: the aliases of commands, each with the command's name.
    static func extended(_ script: String, aliases: [(alias: String, name: String)]) -> String {
        if script.hasPrefix("#compdef") { return zsh(script, aliases) }
        return script.hasPrefix("#!/bin/bash") ? bash(script, aliases) : script + fish(aliases)
    }

    /// bash breaks words at “@”, “:” and “=”, and replaces what is behind the break: the script gets the whole words, and its
    /// answers lose what stays.
    private static func bash(_ script: String, _ aliases: [(alias: String, name: String)]) -> String {
        let cases = aliases.map { "        \($0.alias)) COMP_WORDS[1]=\($0.name) ;;" }.joined(separator: "\n")
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
                local kept='' cur="${words[COMP_CWORD]}"
                if [[ "${cur}" == [\\"\\']* || "${cur}" != *"${2}" ]]; then
                    cur="${2}"
                elif [[ "${2}" != '=' ]]; then
                    kept="${cur%"${2}"}"
                fi
                words[COMP_CWORD]="${cur}"
                local -a COMP_WORDS=("${words[@]}")
                if ((COMP_CWORD > 1)); then
                    case "${COMP_WORDS[1]}" in
            \(cases.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
                    esac
                fi
                _ssoctl "${1}" "${cur}" "${COMP_WORDS[COMP_CWORD - 1]}"
                [[ "${#COMPREPLY[@]}" -gt 0 ]] || return
                if [[ ! -e "${COMPREPLY[0]}" ]]; then
                    # No names of files: they are quoted as words of a command line.
                    compopt +o filenames 2>/dev/null
                    for index in "${!COMPREPLY[@]}"; do
                        COMPREPLY[index]="$(printf %q "${COMPREPLY[index]}")"
                    done
                fi
                COMPREPLY=("${COMPREPLY[@]#"${kept}"}")
            }

            """
        let registration = "complete -o filenames -F _ssoctl ssoctl"
        return script.replacing(
            registration, with: wrapper + "\ncomplete -o filenames -F _ssoctl_with_whole_words ssoctl")
    }

    private static func zsh(_ script: String, _ aliases: [(alias: String, name: String)]) -> String {
        let choice = "        case \"${words[1]}\" in\n"
        guard let place = script.firstRange(of: choice) else { return script }
        let cases = aliases.map { "        \($0.alias)) words[1]=\($0.name) ;;\n" }.joined()
        return script[..<place.lowerBound] + choice + cases + "        esac\n" + script[place.lowerBound...]
    }

    private static func fish(_ aliases: [(alias: String, name: String)]) -> String {
        let cases = aliases.map { "            case \($0.alias)\n                set tokens[2] \($0.name)" }.joined(
            separator: "\n")
        return """

            functions --erase __ssoctl_typed_tokens
            functions --copy __ssoctl_tokens __ssoctl_typed_tokens
            function __ssoctl_tokens
                set -l tokens (__ssoctl_typed_tokens $argv)
                if test (count $tokens) -gt 1
                    switch $tokens[2]
            \(cases)
                    end
                end
                string join \\n -- $tokens
            end
            """
    }
}
