import DeviceSync
import Foundation

/// The tasks of one list: this device's copy, which is there whether the network is or not.
@MainActor
final class TaskList {
    private let user: User
    private let realm: Realm
    private var list: String
    private var isOffline: Bool
    private var token: NotificationToken?
    /// What was shown last, which changes are told against.
    private var lines: [String] = []

    /// Opens the copy. The first time that takes a network, and waits until the list is here.
    init(_ account: Account, list: String, isOffline: Bool) async throws {
        user = try await account.login()
        self.list = list
        self.isOffline = isOffline
        let named = list
        var configuration = user.flexibleSyncConfiguration(
            // A server that was put back from a backup, say: what was not uploaded yet is written once more.
            clientResetMode: .recoverUnsyncedChanges(afterReset: { _, _ in
                Terminal.show("-- the server asked for a new copy; what you wrote is in it")
            }),
            initialSubscriptions: { subscriptions in
                subscriptions.append(QuerySubscription<Todo>(name: "list") { $0.list == named })
            })
        configuration.objectTypes = [Todo.self]
        realm = try await Realm(configuration: configuration, downloadBeforeOpen: isOffline ? .never : .once)
        if isOffline {
            goOffline()
        } else if realm.subscriptions.first(ofType: Todo.self, where: { $0.list == named }) == nil {
            try await subscribe()
        }
        follow()
    }

    private var tasks: Results<Todo> {
        let list = list
        return realm.objects(Todo.self).where { $0.list == list }.sorted(by: \.createdAt)
    }

    // MARK: What the person does

    func add(_ title: String) throws {
        guard !title.isEmpty else { return Terminal.show("add what?") }
        let (list, author) = (list, user.profile.email ?? user.id)
        try realm.write {
            _ = realm.create(
                Todo.self, value: ["list": list, "title": title, "author": author, "createdAt": Date()])
        }
    }

    func change(_ words: String, _ change: (Todo) -> Void) throws {
        // Looked for inside the transaction: before it, somebody else could remove the task.
        try realm.write { if let task = find(words) { change(task) } }
    }

    func remove(_ words: String) throws {
        try realm.write { if let task = find(words) { realm.delete(task) } }
    }

    private func find(_ words: String) -> Todo? {
        let found = tasks.where { $0.title.starts(with: words, options: .caseInsensitive) }.first
        if found == nil { Terminal.show("no task begins with “\(words)”") }
        return found
    }

    func show() {
        Terminal.show("\(list): \(tasks.count) tasks")
        for task in tasks { Terminal.show("  " + Self.line(of: task)) }
    }

    /// Another list takes the place of this one: the subscription changes, and with it what this device has.
    func open(_ name: String) async throws {
        guard !name.isEmpty else { return Terminal.show("open which list?") }
        guard !isOffline else { return Terminal.show("offline, this device has the list \(list) alone") }
        token?.invalidate()
        list = name
        try await subscribe()
        follow()
    }

    private func subscribe() async throws {
        let (list, subscriptions) = (list, realm.subscriptions)
        try await subscriptions.update {
            subscriptions.first(named: "list")?.updateQuery(toType: Todo.self, where: { $0.list == list })
        }
    }

    // MARK: With and without the server

    func goOffline() {
        isOffline = true
        realm.syncSession?.suspend()
        Terminal.show("-- offline: what you write stays here for now")
    }

    func goOnline() {
        isOffline = false
        realm.syncSession?.resume()
        Terminal.show("-- online")
    }

    func wait() async throws {
        guard !isOffline else { return Terminal.show("offline, there is nothing to wait for") }
        try await realm.syncSession?.wait(for: .upload)
        try await realm.syncSession?.wait(for: .download)
        Terminal.show("-- in step with the server")
    }

    func close() { token?.invalidate() }

    // MARK: What happens to the list, whoever does it

    private func follow() {
        lines = []
        token = tasks.observe(on: .main) { [weak self] change in
            // Objects stay where they are; text may go anywhere.
            switch change {
            case .initial(let tasks):
                let lines = tasks.map(Self.line)
                MainActor.assumeIsolated {
                    self?.lines = lines
                    self?.show()
                }
            case .update(let tasks, let deletions, let insertions, let modifications):
                let lines = tasks.map(Self.line)
                MainActor.assumeIsolated {
                    guard let self else { return }
                    for index in deletions { Terminal.show("- \(self.lines[index])") }
                    for index in insertions { Terminal.show("+ \(lines[index])") }
                    for index in modifications { Terminal.show("~ \(lines[index])") }
                    self.lines = lines
                }
            case .error(let error): Terminal.show("! \(error)")
            }
        }
    }

    private nonisolated static func line(of task: Todo) -> String {
        let assignee = task.assignee.map { ", for \($0)" } ?? ""
        return "[\(task.isDone ? "x" : " ")] \(task.title) (by \(task.author)\(assignee))"
    }
}
