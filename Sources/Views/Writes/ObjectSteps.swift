package import Changesets
package import RealmState

/// One thing that a changeset does to an object. Where it makes, changes and erases one object, that is several, one after the other.
package enum ObjectStep: Sendable {
    /// - Parameter stays: nothing after it in the changeset erases the object again.
    case make(StoredObject, stays: Bool)
    /// The object exists before and after; it may be the same.
    case change(from: StoredObject, to: StoredObject)
    case erase(StoredObject)
    /// Erases an object that is not there.
    case eraseNothing
}

/// The effects of a changeset on objects, step by step.
package struct ObjectSteps: Sendable {
    /// The objects in the order in which they first come.
    package let writes: [(address: ObjectAddress, write: ObjectWrite)]
    private let changeset: Changeset

    /// Nil if a number of a string stands for none.
    package init?(_ changeset: Changeset) {
        guard let writes = changeset.writes() else { return nil }
        self.writes = writes
        self.changeset = changeset
    }

    /// Applies the changeset to a state in which its objects are loaded.
    ///
    /// What happens to one object is told in order, and between two erasures as one step: instructions that make an object and set its
    /// properties, or several that change it. Kept is only how objects were when that began.
    package func apply(
        to state: inout RealmState, telling tell: (ObjectAddress, ObjectStep) -> Void
    ) throws(RealmStateError) {
        var lives: [ObjectAddress: Life] = [:]
        for (address, write) in writes {
            lives[address] = Life(before: state.object(address), isTouched: !write.beginsWithErasure)
        }
        var applied = 0
        for (position, address) in cuts {
            try apply(from: &applied, to: position, &state)
            if let now = state.object(address) {
                if let step = lives[address]?.step(to: now, stays: false) { tell(address, step) }
                tell(address, .erase(now))
            } else {
                tell(address, .eraseNothing)
            }
            lives[address] = Life(before: nil, isTouched: false)
        }
        try apply(from: &applied, to: changeset.instructions.count, &state)
        for (address, write) in writes {
            guard let life = lives[address] else { continue }
            if let now = state.object(address) {
                if let step = life.step(to: now, stays: true) { tell(address, step) }
            } else if let before = life.before {
                tell(address, .erase(before))
            } else if write.isErasureAlone {
                tell(address, .eraseNothing)
            }
        }
    }

    /// An object from the last erasure up to the next.
    private struct Life {
        /// The object as it was when its life began; nil if there was none.
        var before: StoredObject?
        /// Something else than an erasure is done to it.
        var isTouched: Bool

        func step(to now: StoredObject, stays: Bool) -> ObjectStep? {
            guard let before else { return .make(now, stays: stays) }
            return isTouched ? .change(from: before, to: now) : nil
        }
    }

    /// The erasures of objects to which something else is done, too.
    private var cuts: [(position: Int, address: ObjectAddress)] {
        let mixed = Set(writes.lazy.filter { $0.write.erases && !$0.write.isErasureAlone }.map(\.address))
        guard !mixed.isEmpty else { return [] }
        return changeset.instructions.indices.compactMap { position in
            guard case .eraseObject(let table, let key) = changeset.instructions[position],
                let name = changeset.strings[table], let object = changeset.strings.resolve(key),
                case let address = ObjectAddress(name, object), mixed.contains(address)
            else { return nil }
            return (position, address)
        }
    }

    /// Applies instructions up to a position; an error names their places in the whole changeset.
    private func apply(from start: inout Int, to end: Int, _ state: inout RealmState) throws(RealmStateError) {
        guard start < end else { return }
        let isWhole = start == 0 && end == changeset.instructions.count
        let part =
            isWhole
            ? changeset
            : Changeset(strings: changeset.strings, instructions: Array(changeset.instructions[start..<end]))
        do throws(RealmStateError) {
            try state.apply(part)
        } catch {
            var error = error
            error.instruction = error.instruction.map { $0 + start }
            throw error
        }
        start = end
    }
}

extension ObjectWrite {
    /// Whether the object is erased and nothing else is done to it.
    fileprivate var isErasureAlone: Bool { erases && !creates && fields.isEmpty }
}
