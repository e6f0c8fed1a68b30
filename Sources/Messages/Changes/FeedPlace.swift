package import SyncModel

/// A place among a realm's changes with the history that it is of: places of two histories say nothing of each other.
package struct FeedPlace: Hashable, Sendable, CustomStringConvertible {
    package var place: ChangePlace
    /// Nil: of whichever there is.
    package var history: String?

    package init(_ place: ChangePlace, of history: String?) {
        self.place = place
        self.history = history
    }

    /// - Parameter text: as `description` has it, such as `1.17.0@9c2f01ab`, or `1.17.0` of whichever history there is.
    package init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let place = ChangePlace(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(place, of: nil)
            return
        }
        guard Self.isHistory(parts[1]) else { return nil }
        self.init(place, of: String(parts[1]))
    }

    package var description: String { history.map { "\(place)@\($0)" } ?? "\(place)" }

    private static func isHistory(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}
