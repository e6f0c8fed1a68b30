import DeviceSync

let app = App(id: "todos", configuration: AppConfiguration(baseURL: "http://127.0.0.1:9080"))
let user = try await app.login(credentials: .anonymous)

var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
    subscriptions.append(QuerySubscription<Todo>(name: "all"))
})
configuration.objectTypes = [Todo.self]
let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)

for title in CommandLine.arguments.dropFirst() {
    try realm.write {
        realm.create(Todo.self, value: ["title": title])
    }
}

let token = realm.objects(Todo.self).observe { change in
    switch change {
    case .initial(let todos):
        for todo in todos { print(todo.title) }
    case .update(let todos, _, let insertions, _):
        for index in insertions { print("new: \(todos[index].title)") }
    case .error(let error):
        print(error)
    }
}

// Control-C ends it.
if let session = realm.syncSession {
    for await state in session.connectionStates { print("-- \(state)") }
}
token.invalidate()
