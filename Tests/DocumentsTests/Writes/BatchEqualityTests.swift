import Changesets
import Documents
import ExtendedJSON
import RealmState
import SeededRandom
import TestSupport
import Testing

/// Batches at random, once as instructions and once on plain JSON.
@Suite struct BatchEqualityTests {
    @Test(arguments: seedRanges(8, of: 10))
    func batchesDoToObjectsWhatTheyDoToDocuments(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var state = try AllTypes.state()
            var copy = state
            var plain = PlainDocuments(schema: state.schema)
            var writes = try RandomWrites(state.schema, seed: seed)
            var refused = 0
            for step in 0..<12 {
                var after = plain
                var isRefused = false
                var batch = WriteBatch([])
                for _ in 0...writes.documents.random.below(3) where !isRefused {
                    let write = writes.write(after)
                    batch.writes.append(write)
                    isRefused = !after.perform(write)
                }
                let before = state
                do throws(DocumentError) {
                    let written = try batch.record(on: &state, .test)
                    expectTrue(!isRefused, "seed \(seed) step \(step): written, though it had to be refused")
                    try apply(written, to: &copy)
                    checkChanges(written, from: before, to: state, plain, after, "seed \(seed) step \(step)")
                    plain = after
                } catch {
                    expectTrue(isRefused, "seed \(seed) step \(step): \(error)")
                    refused += 1
                }
                expectEqual(differences(state, plain), [], "seed \(seed) step \(step)")
                expectEqual(
                    StateDump.digest(of: copy), StateDump.digest(of: state), "seed \(seed) step \(step)")
            }
            expectTrue(refused < 10, "seed \(seed)")
        }
    }

    private func apply(_ written: RecordedWrites, to copy: inout RealmState) throws(DocumentError) {
        do {
            try copy.apply(try Changeset(parsing: written.bytes))
        } catch {
            expectTrue(false, "what was recorded cannot be applied: \(error)")
        }
    }

    /// The changes of a version lead from the documents before it to those after it.
    private func checkChanges(
        _ written: RecordedWrites, from before: RealmState, to state: RealmState, _ old: PlainDocuments,
        _ new: PlainDocuments, _ comment: String
    ) {
        var replayed = old
        for (index, change) in DocumentChanges.of(written.changeset, before: before, after: state).enumerated() {
            expectEqual(change.index, index)
            switch change.operation {
            case .insert, .replace: replayed["Thing", change.key] = change.document
            case .delete: replayed["Thing", change.key] = nil
            case .drop, .dropFields: expectTrue(false, "\(comment): a class was dropped")
            case .update:
                let place = DocumentWrite.Target.id(change.key)
                var updates = change.set.members.compactMap { member in
                    (try? DocumentPath(member.key, maxElements: 64)).map { FieldUpdate($0, .set(member.value)) }
                }
                for path in change.removed {
                    if let path = try? DocumentPath(path, maxElements: 64) { updates.append(FieldUpdate(path, .unset)) }
                }
                expectTrue(!updates.isEmpty, "\(comment)")
                _ = replayed.perform(DocumentWrite("Thing", .update(place, updates)))
            }
        }
        guard let table = state.schema.table("Thing") else { return }
        let (left, right) = (replayed.documents["Thing"] ?? [:], new.documents["Thing"] ?? [:])
        expectEqual(Set(left.keys), Set(right.keys), "\(comment)")
        for (key, document) in left {
            guard let other = right[key] else { continue }
            expectEqual(document.differences(from: other, table), [], "changes of \(comment)")
        }
    }

    private func differences(_ state: RealmState, _ plain: PlainDocuments) -> [String] {
        guard let table = state.schema.table("Thing") else { return ["no class"] }
        let mapping = DocumentMapping(schema: state.schema)
        var found: [String] = []
        var keys = Set((plain.documents["Thing"] ?? [:]).keys)
        for (key, object) in state.objects(of: "Thing") {
            let id = DocumentMapping.value(of: key)
            keys.remove(id)
            guard let document = plain["Thing", id] else {
                found.append("\(key) is there")
                continue
            }
            found += mapping.document(of: object, key: key, table).differences(from: document, table)
        }
        return found + keys.map { "\($0) is not there" }
    }
}
