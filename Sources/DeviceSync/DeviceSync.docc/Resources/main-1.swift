import DeviceSync

let app = App(id: "todos", configuration: AppConfiguration(baseURL: "http://127.0.0.1:9080"))
let user = try await app.login(credentials: .anonymous)
