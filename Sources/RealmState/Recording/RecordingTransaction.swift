package import Changesets

/// Local changes that are made to a state and recorded as the changeset that is to be uploaded
/// (docs/changesets.md, "Recording").
///
/// Every change is made by applying the instruction that is recorded for it, so author and receivers cannot differ.
/// The transaction holds the state from `init(taking:)` to `commit` or `rollback`: copies of it made in between would
/// make the next change of it slow.
///
/// The state has every object, or at least those that the changes touch: links to an object that is deleted are looked for among the objects that
/// it has.
package struct RecordingTransaction: Sendable {
    package internal(set) var state: RealmState
    var encoder: StreamingEncoder
    /// Objects that exist only to be uploaded; they go when the transaction is committed.
    var asymmetricObjects: Set<ObjectAddress> = []
    /// What the last recorded instruction has left. To be forgotten when the state is changed by anything else.
    var focus: ApplyFocus?
    let allowsMissingTargets: Bool

    /// Moves the state in here, leaving an empty one.
    /// - Parameters:
    ///   - isKept: whether the changeset is wanted; else it stays empty.
    ///   - allowsMissingTargets: whether links may lead to objects that are not there.
    package init(taking state: inout RealmState, isKept: Bool = true, allowsMissingTargets: Bool = false) {
        self.allowsMissingTargets = allowsMissingTargets
        self.state = state
        state = RealmState()
        encoder = StreamingEncoder(isKept: isKept)
        self.state.begin()
    }

    /// The changeset so far.
    package var changeset: Changeset { encoder.changeset }

    /// Keeps the changes and moves the state back. Returns the changeset as it is uploaded, zero bytes if there is none.
    package mutating func commit(returningTo target: inout RealmState) -> [UInt8] {
        for address in asymmetricObjects {
            state.discard(address)
        }
        state.commit()
        let bytes = encoder.bytes
        finish(returningTo: &target)
        return bytes
    }

    /// Undoes the changes and moves the state back.
    package mutating func rollback(returningTo target: inout RealmState) {
        state.rollback()
        finish(returningTo: &target)
    }

    private mutating func finish(returningTo target: inout RealmState) {
        target = state
        state = RealmState()
        encoder = StreamingEncoder()
        asymmetricObjects = []
        focus = nil
    }

    // MARK: Recording

    /// Applies an instruction whose strings are interned in `encoder`, and records it.
    mutating func record(
        _ instruction: Instruction, _ className: ByteString, _ field: ByteString? = nil
    ) throws(RecordingError) {
        do throws(RealmStateError) {
            try state.apply(instruction, encoder.strings, &focus)
        } catch {
            throw RecordingError(.invalid, className, field, error.message)
        }
        encoder.append(instruction)
    }

    /// Records a path instruction for the place at an address.
    ///
    /// - Parameter make: makes the instruction, with the strings of its payload interned behind those of the path.
    mutating func record(
        _ address: FieldAddress, _ place: RecordedPlace, _ make: (FieldPath, inout InternTable) -> Instruction
    ) throws(RecordingError) {
        _ = encoder.strings.intern(place.owner)
        let path = FieldPath(address, &encoder.strings)
        try record(make(path, &encoder.strings), address.object.className, address.field)
    }

    /// Follows an address through the state, to a place where something may be changed.
    package func place(_ address: FieldAddress) throws(RecordingError) -> RecordedPlace {
        let cursor = try state.cursor(at: address)
        if let fault = cursor.keyFault {
            throw RecordingError(.invalid, address.object.className, address.field, fault)
        }
        return cursor.place
    }

    func table(_ className: ByteString) throws(RecordingError) -> TableSchema {
        guard let table = state.schema.table(className) else {
            throw RecordingError(.noSuchClass, className, nil, "the schema has no such class")
        }
        return table
    }
}

extension RealmState {
    /// Runs local changes: keeps them and returns their changeset, or undoes them all if `body` throws.
    package mutating func record<Result, Failure: Error>(
        _ body: (inout RecordingTransaction) throws(Failure) -> Result
    ) throws(Failure) -> (result: Result, changeset: [UInt8]) {
        var transaction = RecordingTransaction(taking: &self)
        do throws(Failure) {
            let result = try body(&transaction)
            return (result, transaction.commit(returningTo: &self))
        } catch {
            transaction.rollback(returningTo: &self)
            throw error
        }
    }
}
