internal import GRDB
internal import SyncModel

/// One cached user.
struct UserRecord: Sendable, Equatable {
    var id: String
    var state: UserState = .loggedIn
    var deviceID = ""
    var accessToken = ""
    var refreshToken = ""
    var profile = UserProfileRecord()
}

extension UserRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "users"

    init(row: Row) {
        id = row["id"]
        state = UserState(rawValue: row["state"]) ?? .loggedOut
        deviceID = row["device"]
        accessToken = row["access"]
        refreshToken = row["refresh"]
        let stored = try? JSONParser.parse(row["profile"] as String)
        profile = stored.flatMap(UserProfileRecord.init) ?? UserProfileRecord()
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["state"] = state.rawValue
        container["device"] = deviceID
        container["access"] = accessToken
        container["refresh"] = refreshToken
        container["profile"] = JSONWriter.text(of: profile.json)
    }
}
