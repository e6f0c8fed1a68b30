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
