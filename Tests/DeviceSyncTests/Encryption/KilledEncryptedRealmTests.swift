import Dispatch
import Foundation
import SeededRandom
import TestSupport
import Testing

@testable import DeviceSync

/// Processes that are killed while they write an encrypted realm: what was committed is there, and nothing else.
@Suite(.serialized, .hangGuard)
struct KilledEncryptedRealmTests {
    struct Writer: Codable {
        var folder: String
        var round: Int
        var lifetime: Int

        var configuration: Realm.Configuration {
            Realm.Configuration(
                fileURL: URL(fileURLWithPath: folder + "/a.realm"), encryptionKey: PlainText.key,
                dynamicSchema: Device.schema)
        }

        /// Writes until the process is killed; in its first rounds the process makes the file, too.
        func run() throws {
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(lifetime)) { kill(getpid(), SIGKILL) }
            let realm = try Realm(configuration: configuration)
            for number in 0... {
                let id = "\(round)-\(number)"
                // Often so much that SQLite writes into the log before the commit, and moves the log into the file after it.
                let size = number % 5 == 0 ? 3 << 20 : 100
                try realm.write {
                    realm.dynamicCreate("Task", value: ["_id": id, "title": String(repeating: "x", count: size)])
                }
                note(id)
            }
        }

        private func note(_ id: String) {
            let file = open(folder + "/committed", O_WRONLY | O_APPEND | O_CREAT, 0o600)
            let line = Array("\(id)\n".utf8)
            _ = write(file, line, line.count)
            close(file)
        }

        var committed: Set<String> {
            let text = (try? String(contentsOfFile: folder + "/committed", encoding: .utf8)) ?? ""
            return Set(text.split(separator: "\n").map(String.init))
        }
    }

    @Test func nothingThatWasCommittedIsLost() async throws {
        let folder = Folder()
        try FileLayout.makeFolder(folder.url)
        var random = SeededGenerator(seed: 5)
        for round in 0..<8 {
            let writer = Writer(
                folder: folder.url.path, round: round,
                lifetime: round < 3 ? random.below(20_000) : random.below(1_500_000))
            await #expect(processExitsWith: .signal(SIGKILL)) { [writer = writer as Writer] in try writer.run() }
            let realm = try Realm.openNow(writer.configuration)
            let found = Set(realm.titles().keys)
            expectTrue(writer.committed.subtracting(found).isEmpty, "round \(round)")
            // What was being written when the process was killed.
            expectTrue(found.subtracting(writer.committed).count <= round + 1)
        }
        expectTrue(PlainText.found(in: folder.url).isEmpty)
    }
}
