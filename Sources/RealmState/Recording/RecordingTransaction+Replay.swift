package import Changesets

extension RecordingTransaction {
    /// Applies an instruction of another changeset as it is and records it, whether or not it changes anything.
    ///
    /// `owner` is the class that directly holds the field of a path instruction; nil means the top-level class.
    package mutating func replay(
        _ instruction: Instruction, strings: InternTable, owner: ByteString? = nil
    ) throws(RecordingError) {
        focus = nil
        // By other strings.
        var replayed: ApplyFocus?
        do throws(RealmStateError) {
            try state.apply(instruction, strings, &replayed)
        } catch {
            throw RecordingError(.invalid, error.className ?? "", nil, error.description)
        }
        do throws(ChangesetError) {
            try encoder.append(instruction, from: strings, owner: owner)
        } catch {
            throw RecordingError(.invalid, "", nil, "\(error)")
        }
    }
}
