package import Changesets
import RealmState
package import SyncModel

/// A changeset with its instructions by object, for many clients each to be sent what it holds of it: a client costs what its own objects
/// cost, not what the changeset does.
package struct SplitChangeset: Sendable {
    private let changeset: Changeset
    private var byObject: [ObjectAddress: [Int]] = [:]
    private var ofSchema: [Int] = []

    /// - Throws: if the changeset cannot be read.
    package init(parsing bytes: [UInt8]) throws(ChangesetError) {
        changeset = bytes.isEmpty ? Changeset() : try Changeset(parsing: bytes)
        var addresses = TargetAddresses(strings: changeset.strings)
        for (index, instruction) in changeset.instructions.enumerated() {
            let target = instruction.target
            guard let key = target.object else {
                ofSchema.append(index)
                continue
            }
            byObject[try addresses.next(target.table, key), default: []].append(index)
        }
    }

    /// What of it a client gets: changes of the schema, and of the objects that it holds, without the properties that its user may not
    /// read. Empty if there is nothing.
    package func selection(
        _ version: ServerVersion, _ passages: ViewStretch.Passages, in view: View
    ) throws(ChangesetError) -> [UInt8] {
        var wanted = ofSchema
        func passes(_ slot: ObjectSlot) -> Bool {
            if case .passes(let after) = passages[slot] { version > after } else { false }
        }
        // Whichever are fewer.
        if byObject.count < passages.count {
            for (address, indices) in byObject {
                guard let table = view[address.className]?.table.id, passes(ObjectSlot(table, address.key)) else {
                    continue
                }
                wanted += indices
            }
        } else {
            for slot in passages.keys where passes(slot) {
                guard let table = view[slot.table]?.table else { continue }
                wanted += byObject[ObjectAddress(table.name, slot.key)] ?? []
            }
        }
        guard !wanted.isEmpty else { return [] }
        var selection = ChangesetSelection()
        for index in wanted.sorted() where isReadable(changeset.instructions[index], in: view) {
            try selection.append(changeset.instructions[index], of: changeset)
        }
        return try view.mapping?.outgoing(selection.changeset).bytes ?? selection.bytes
    }

    private func isReadable(_ instruction: Instruction, in view: View) -> Bool {
        let target = instruction.target
        guard target.object != nil, let table = changeset.strings[target.table], let view = view[table],
            let role = view.role, let field = target.field.flatMap({ changeset.strings[$0] }),
            let column = view.table.column(field)
        else { return true }
        return role.reads(column.id)
    }
}
