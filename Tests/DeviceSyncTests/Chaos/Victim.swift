import Dispatch
import Foundation
import SeededRandom

@testable import DeviceSync

/// A process that writes and syncs until it is killed, at a moment that nothing waits for.
struct Victim: Codable {
    var folder: String
    var serverURL: String
    var round: Int
    /// The time after which the process is killed, in microseconds.
    var lifetime: Int
    var seed: UInt64

    /// What it was about to write and what it had written, one line each: the kernel keeps them whatever happens.
    var log: String { folder + "/writes.log" }

    func run() async throws {
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: folder)
        let app = App(
            id: "test",
            configuration: AppConfiguration(baseURL: serverURL, transport: StubTransport(baseURL: serverURL)))
        app.syncManager.callbackQueue = DispatchQueue(label: "victim.callbacks")
        if app.currentUser == nil {
            _ = try await app.login(credentials: .emailPassword(email: "first@example.test", password: "secret"))
        }
        guard let user = app.currentUser else { return }
        var configuration = user.configuration(partitionValue: "p")
        configuration.dynamicSchema = Device.schema
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(lifetime)) { kill(getpid(), SIGKILL) }
        let realm = try Self.openRealm(configuration)
        var random = SeededGenerator(seed: seed)
        for number in 0... {
            try write(round * 1_000_000 + number, realm, &random)
            if random.below(3) == 0 {
                try await Task.sleep(for: .microseconds(random.below(4000)))
            }
        }
    }

    /// Opens the realm at once and without the network, as an app that starts offline does.
    private static func openRealm(_ configuration: Realm.Configuration) throws -> Realm {
        try Realm(configuration: configuration)
    }

    private func write(_ number: Int, _ realm: Realm, _ random: inout SeededGenerator) throws {
        note("begin \(number)")
        try realm.write { ChaosEdits.edit(number, realm, &random) }
        note("end \(number)")
    }

    private func note(_ line: String) {
        let file = open(log, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        guard file >= 0 else { return }
        let bytes = Array("\(line)\n".utf8)
        _ = Foundation.write(file, bytes, bytes.count)
        close(file)
    }

    /// The numbers that were committed for certain, and those of which it is not known.
    static func writes(in folder: String) -> (certain: Set<Int>, open: Set<Int>) {
        let text = (try? String(contentsOfFile: folder + "/writes.log", encoding: .utf8)) ?? ""
        var begun: Set<Int> = []
        var ended: Set<Int> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            if words[0] == "begin" { begun.insert(number) } else { ended.insert(number) }
        }
        return (ended, begun.subtracting(ended))
    }
}

/// What the clients do: each write leaves its number in an object of its own and in the list that they share.
enum ChaosEdits {
    static func edit(_ number: Int, _ realm: Realm, _ random: inout SeededGenerator) {
        realm.dynamicCreate("Task", value: ["_id": "n\(number)", "title": "by \(number)", "count": number])
        let shared =
            realm.dynamicObject(ofType: "Task", forPrimaryKey: "shared")
            ?? realm.dynamicCreate("Task", value: ["_id": "shared"])
        if let numbers = shared["numbers"] as? DynamicList {
            numbers.insert(number, at: random.below(numbers.count + 1))
        }
        shared.increment("count", by: 1)
        shared["title"] = "last \(number)"
        if let tags = shared["tags"] as? DynamicSet {
            tags.insert("t\(random.below(8))")
            tags.remove("t\(random.below(8))")
        }
        if let names = shared["names"] as? DynamicMap { names["k\(random.below(8))"] = "\(number)" }
    }
}
