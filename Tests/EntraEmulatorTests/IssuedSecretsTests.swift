internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// The limit of the codes and tokens that the emulator remembers.
@Suite(.bounded) struct IssuedSecretsTests {
    private func known(_ secrets: IssuedSecrets<Bool>, of count: Int) -> [Int] {
        (0..<count).filter { secrets["\($0)"] != nil }
    }

    @Test func forgetsTheOldestPastTheLimit() {
        var secrets = IssuedSecrets<Bool>(limit: 8)
        for number in 0..<8 { secrets.issue(false, as: "\(number)") }
        #expect(known(secrets, of: 8).count == 8)
        for number in 8..<100 {
            secrets.issue(false, as: "\(number)")
            let left = known(secrets, of: number + 1)
            #expect(left.count <= 8 && left.count > 6 && left == Array((left.first ?? 0)...number))
        }
    }

    @Test func forgetsWhatCannotBeUsedBeforeTheRest() {
        var secrets = IssuedSecrets<Bool>(limit: 8)
        for number in 0..<8 { secrets.issue(number % 2 == 1, as: "\(number)") { $0 } }
        secrets.issue(false, as: "8") { $0 }
        #expect(known(secrets, of: 9) == [0, 2, 4, 5, 6, 7, 8])
        secrets["5"] = false
        secrets.issue(false, as: "9") { $0 }
        secrets.issue(false, as: "10") { $0 }
        #expect(known(secrets, of: 11) == [2, 4, 5, 6, 8, 9, 10])
    }

    @Test func forgetsNothingInPlaceOfWhatHasBeenRemoved() {
        var secrets = IssuedSecrets<Bool>(limit: 8)
        secrets.issue(true, as: "0")
        for number in 1..<100 {
            secrets.issue(false, as: "\(number)")
            let removed = secrets.remove("\(number)")
            #expect(removed == false)
        }
        #expect(known(secrets, of: 100) == [0])
    }

    @Test func changesNoSecretThatItDoesNotKnow() {
        var secrets = IssuedSecrets<Bool>(limit: 8)
        secrets["0"] = true
        #expect(secrets["0"] == nil)
        secrets.issue(false, as: "0")
        let changed = secrets.update { value in
            value = true
            return true
        }
        #expect(changed == 1)
        #expect(secrets["0"] == true)
    }
}
