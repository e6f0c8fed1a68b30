import DeviceSync
import Foundation
import LocalCluster

/// One app on one device: logs in, opens its realm, edits tasks.
actor ClientRealm {
    static let partition = "team-1"

    enum Mode: String {
        case recover, recoverOrDiscard, discard, manual
    }

    let name: String
    let mode: Mode
    private let app: App
    private let resets = ResetLog()
    private var user: User?
    private var realm: Realm?

    init(name: String, baseURL: String, app: String, mode: Mode, folder: String) {
        self.name = name
        self.mode = mode
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: folder, isDirectory: true)
        self.app = App(id: app, configuration: AppConfiguration(baseURL: baseURL))
        self.app.syncManager.callbackQueue = DispatchQueue(label: "demo.callbacks")
        self.app.syncManager.errorHandler = { [resets] error, _ in
            try? FileHandle.standardError.write(contentsOf: Data("sync error: \(error)\n".utf8))
            resets.update { $0.error = "\(error)" }
        }
    }

    func perform(_ command: ClientCommandLine) async throws -> ClientAnswer {
        var answer = ClientAnswer()
        switch command.action {
        case .open: try await open()
        case .seed: try seed()
        case .load: try await load(count: command.count ?? 1)
        case .editOffline: try editOffline()
        case .editOnline: try editOnline(names: command.names ?? [])
        case .upload: try await session().wait(for: .upload)
        case .download: try await session().wait(for: .download)
        case .suspend: try session().suspend()
        case .resume: try session().resume()
        case .digest: answer.digest = CopyDigest.of(try current())
        case .object: answer.fields = try fields(className: command.className, key: command.key)
        case .count: answer.count = try count(className: command.className)
        case .awaitReset: try await awaitReset()
        case .identify:
            answer.user = user?.id
            answer.backupFile = resets.current.backupPath.map { URL(fileURLWithPath: $0).lastPathComponent }
        }
        return answer
    }

    private func open() async throws {
        let user = try await app.login(credentials: .anonymous)
        self.user = user
        realm = try await Realm(configuration: configuration(user), downloadBeforeOpen: .once)
    }

    private func configuration(_ user: User) -> Realm.Configuration {
        let resets = resets
        let after: @Sendable (Realm, Realm) -> Void = { _, _ in resets.update { $0.isOver = true } }
        let resetMode: ClientResetMode =
            switch mode {
            case .recover: .recoverUnsyncedChanges(afterReset: after)
            case .recoverOrDiscard: .recoverOrDiscardUnsyncedChanges(afterReset: after)
            case .discard: .discardUnsyncedChanges(afterReset: after)
            case .manual:
                .manual { error, _ in
                    guard let (path, token) = (error as? SyncError)?.clientResetInfo() else { return }
                    resets.update {
                        $0.backupPath = path
                        $0.token = token
                    }
                }
            }
        var configuration = user.configuration(partitionValue: Self.partition, clientResetMode: resetMode)
        configuration.dynamicSchema = DemoSchema.classes
        return configuration
    }

    private func current() throws -> Realm {
        guard let realm else { throw LocalClusterError("the realm is not open") }
        return realm
    }

    private func session() throws -> SyncSession {
        guard let session = try current().syncSession else { throw LocalClusterError("the realm has no sync session") }
        return session
    }

    private func seed() throws {
        let realm = try current()
        for rule in ["rule2", "rule3", "rule4"] {
            try realm.write {
                realm.dynamicCreate("Task", value: ["_id": "\(name)/\(rule)", "title": "made by \(name)"])
            }
        }
    }

    private func load(count: Int) async throws {
        let realm = try current()
        for index in 0..<count {
            try realm.write { realm.dynamicCreate("Load", value: ["_id": "\(name)/\(index)", "number": index]) }
            try await Task.sleep(for: .milliseconds(15))
        }
    }

    /// One unsynced change for each of the four published recovery rules.
    private func editOffline() throws {
        let realm = try current()
        try realm.write {
            realm.dynamicCreate("Task", value: ["_id": "\(name)/rule1", "title": "created offline by \(name)"])
        }
        try realm.write { try task("rule2")["title"] = "edited offline by \(name)" }
        try realm.write { realm.delete(try task("rule3")) }
        try realm.write { try task("rule4")["title"] = "renamed by \(name)" }
    }

    /// What the server's side of the four rules needs, for every client that is away.
    private func editOnline(names: [String]) throws {
        let realm = try current()
        for name in names {
            try realm.write {
                realm.delete(try task("rule2", of: name))
                try task("rule3", of: name)["note"] = "noted by editor"
                let renamed = try task("rule4", of: name)
                renamed["title"] = "renamed by editor"
                renamed["note"] = "noted by editor"
            }
        }
    }

    private func task(_ rule: String, of owner: String? = nil) throws -> DynamicObject {
        let key = "\(owner ?? name)/\(rule)"
        guard let task = try current().dynamicObject(ofType: "Task", forPrimaryKey: key) else {
            throw LocalClusterError("there is no task \(key)")
        }
        return task
    }

    private func fields(className: String?, key: String?) throws -> [String: String]? {
        guard let className, let key,
            let object = try current().dynamicObject(ofType: className, forPrimaryKey: key)
        else { return nil }
        var fields: [String: String] = [:]
        for property in object.objectSchema.properties where property != object.objectSchema.primaryKeyProperty {
            if let value = object[property.name] { fields[property.name] = "\(value)" }
        }
        return fields
    }

    private func count(className: String?) throws -> Int {
        let realm = try current()
        guard let className, realm.schema[className] != nil else { return 0 }
        return realm.dynamicObjects(className).count
    }

    /// Waits until the reset has gone its way; a manual one is handled as docs/client.md shows.
    private func awaitReset() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let state = resets.current
            if let token = state.token, let user {
                resets.update { $0.token = nil }
                realm = nil
                SyncSession.immediatelyHandleError(token)
                realm = try await Realm(configuration: configuration(user), downloadBeforeOpen: .always)
                return
            }
            if state.isOver { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw LocalClusterError("no client reset within a minute; last error: \(resets.current.error ?? "none")")
    }
}
