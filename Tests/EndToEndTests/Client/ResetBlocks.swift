import DeviceSync
import Foundation
import Synchronization

/// What a mode's blocks saw.
final class ResetBlocks: Sendable {
    struct Contents {
        var before: [[String]] = []
        var after = 0
        var problem: String?
    }
    let contents = Mutex(Contents())
    let backup = Realm.Configuration.baseDirectory.appendingPathComponent("before-\(UUID().uuidString).realm")

    /// - Parameter writing: the id of an object that is made in the block after the reset; nil: none.
    func recovering(writing id: String? = nil) -> ClientResetMode {
        .recoverUnsyncedChanges(beforeReset: before, afterReset: after(id))
    }
    var discarding: ClientResetMode { .discardUnsyncedChanges(beforeReset: before, afterReset: after(nil)) }
    var recoveringOrDiscarding: ClientResetMode {
        .recoverOrDiscardUnsyncedChanges(beforeReset: before, afterReset: after(nil))
    }

    private var before: ClientResetBeforeBlock {
        { before in
            let lines = before.objects(Chore.self).map(\.line)
            self.contents.withLock { $0.before.append(lines) }
            self.trying {
                try before.writeCopy(
                    configuration: Realm.Configuration(fileURL: self.backup, objectTypes: [Chore.self]))
            }
        }
    }

    private func after(_ id: String?) -> ClientResetAfterBlock {
        { before, after in
            self.contents.withLock { $0.after += 1 }
            guard let id else { return }
            self.trying {
                // Only what is not there: the old realm is looked through, the new one is asked for each object.
                let lost = before.objects(Chore.self).filter {
                    after.objects(Chore.self).filter("_id == %@", $0._id).first == nil
                }
                let text = "lost \(lost.map(\._id))"
                try after.write { _ = after.create(Chore.self, value: ["_id": id, "text": text]) }
            }
        }
    }

    private func trying(_ body: () throws -> Void) {
        do { try body() } catch { contents.withLock { $0.problem = "\(error)" } }
    }

    /// How often the two blocks ran.
    var runs: [Int] { contents.withLock { [$0.before.count, $0.after] } }
    var problem: String? { contents.withLock { $0.problem } }
}
