package import Changesets

/// A changeset of the peer, with what the merge has to know about its origin.
package struct IncomingChangeset: Sendable {
    /// The changeset's version at the sender.
    package var version: UInt64
    /// The last of our versions that the sender had integrated when it made this one.
    package var lastIntegratedLocalVersion: UInt64
    package var originTimestamp: UInt64
    /// Never 0: on the wire 0 means the sender itself, which the caller has to put in.
    package var originFileIdent: UInt64
    package var changeset: Changeset

    package init(
        version: UInt64, lastIntegratedLocalVersion: UInt64, originTimestamp: UInt64, originFileIdent: UInt64,
        changeset: Changeset
    ) {
        self.version = version
        self.lastIntegratedLocalVersion = lastIntegratedLocalVersion
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
        self.changeset = changeset
    }
}

/// An entry of our history that the peer may not know yet: not received from the peer, and not empty when it was made.
package struct LocalChangeset: Sendable {
    package var version: UInt64
    package var originTimestamp: UInt64
    /// Never 0: in a history 0 means this file, whose own identifier the caller has to put in.
    package var originFileIdent: UInt64
    /// The peer's reciprocal of the entry if one is stored, even an empty one; else what the entry is.
    package var changeset: Changeset {
        didSet { positions = nil }
    }
    /// Where the changeset's instructions on each object are, if that is known.
    package private(set) var positions: ObjectPositions?

    package init(
        version: UInt64, originTimestamp: UInt64, originFileIdent: UInt64, changeset: Changeset,
        positions: ObjectPositions? = nil
    ) {
        self.version = version
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
        self.changeset = changeset
        self.positions = positions
    }
}

/// The result of a merge for both sides.
package struct TransformResult: Sendable, Equatable {
    /// A local entry as the peer's next changesets have to meet it.
    package struct Reciprocal: Sendable, Equatable {
        package var version: UInt64
        /// An empty one is to be stored like any other: absent would mean that the entry is unchanged.
        package var changeset: Changeset

        package init(version: UInt64, changeset: Changeset) {
            self.version = version
            self.changeset = changeset
        }
    }

    /// The incoming changesets in their order, ready to be applied to our state.
    package var incoming: [Changeset]
    /// The local entries that the merge has changed, by ascending version.
    package var modifiedLocal: [Reciprocal]

    package init(incoming: [Changeset], modifiedLocal: [Reciprocal]) {
        self.incoming = incoming
        self.modifiedLocal = modifiedLocal
    }
}

/// How a local instruction finds those incoming ones that it has to be merged with.
package enum ConflictSearch: Sendable {
    /// The instruction asks the conflict index, and lists that both sides have changed a lot are merged by themselves.
    case indexed
    /// The same with all lists, however short, as a whole where that is possible: slower, for tests.
    case indexedWithWholeLists
    /// The same, and nothing as a whole.
    case indexedWithListPairs
    /// One after the other. The result is the same: tests hold the index to that.
    case exhaustive
}
