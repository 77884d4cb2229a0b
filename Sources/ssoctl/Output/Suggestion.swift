/// Finds the word that a person has probably meant.
enum Suggestion {
    /// The most similar of the words, if it differs by a letter or two; nil if none does.
    static func nearest(to word: String, among words: [String]) -> String? {
        let word = word.lowercased()
        let limit = word.utf8.count < 5 ? 1 : 2
        if let longer = words.first(where: { word.utf8.count >= 3 && $0.lowercased().begins(with: word) }) {
            return longer
        }
        return words.map { (word: $0, distance: distance(word, $0.lowercased())) }
            .filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
    }

    /// The most similar of the usernames. A word without “@” is compared with the parts before the “@” too.
    static func nearestUsername(to word: String, among usernames: [String]) -> String? {
        if let nearest = nearest(to: word, among: usernames) { return nearest }
        guard !word.contains("@") else { return nil }
        let names = usernames.map { String($0.prefix { $0 != "@" }) }
        return nearest(to: word, among: names).flatMap { names.firstIndex(of: $0) }.map { usernames[$0] }
    }

    /// The number of letters to insert, remove, replace, or exchange with their neighbour (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        // A person does not type more; the time is proportional to the product of the lengths.
        let (left, right) = (Array(left.unicodeScalars.prefix(64)), Array(right.unicodeScalars.prefix(64)))
        var rows = [Array(0...right.count)]
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let isSame = left[i] == right[j]
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (isSame ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

extension String {
    /// Whether a person may have typed the beginning of this text. `hasPrefix` compares whole characters, of which the last one that was
    /// typed may be a part: a letter without its vowel sign, or the first of several joined emoji.
    func begins(with typed: String) -> Bool {
        hasPrefix(typed) || unicodeScalars.starts(with: typed.unicodeScalars)
    }
}
