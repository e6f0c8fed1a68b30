/// The part of an app's changes that is told to those who follow it.
package struct ChangeFeedSetting: Codable, Sendable, Equatable {
    package enum Mode: String, Codable, Sendable, CaseIterable {
        /// Nothing, at no cost.
        case off
        /// The keys of documents, and what has changed of them; a document as a whole where it is new.
        case keys
        /// The same, and every document as it is after the change.
        case documents
    }

    /// How long owners may go on by settings of before, in milliseconds: nothing that is written longer than this after the feed was turned on
    /// lacks its changes.
    package static let settlingTime: UInt64 = 10_000

    package private(set) var mode: Mode
    /// When the feed was last turned on, in milliseconds of Unix time; 0 if it never was.
    package private(set) var since: UInt64

    package init(_ mode: Mode = .off, since: UInt64 = 0) {
        self.mode = mode
        self.since = since
    }

    package var isOn: Bool { mode != .off }

    package mutating func set(_ new: Mode, at now: UInt64) {
        if mode == .off, new != .off { since = now }
        mode = new
    }

    /// Whether owners know by now that the feed is on.
    package func isSettled(at now: UInt64) -> Bool { isOn && now >= since &+ Self.settlingTime }
}
