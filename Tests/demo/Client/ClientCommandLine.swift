/// A line of the demo's own protocol between its scenario and its client processes.
struct ClientCommandLine: Codable {
    enum Action: String, Codable {
        case open, seed, load, upload, download, suspend, resume, digest, awaitReset, object, count
        case editOffline, editOnline
        /// Asks which user the client is, and for the backup of a manual reset.
        case identify
    }

    var action: Action
    /// Names of the other clients, where a command concerns them.
    var names: [String]?
    var count: Int?
    var className: String?
    var key: String?

    init(_ action: Action, names: [String]? = nil, count: Int? = nil, className: String? = nil, key: String? = nil) {
        self.action = action
        self.names = names
        self.count = count
        self.className = className
        self.key = key
    }
}

struct ClientAnswer: Codable {
    var error: String?
    var digest: String?
    var count: Int?
    /// The fields of an object as text, nil if there is no such object.
    var fields: [String: String]?
    /// The name of the backup that a manual reset made.
    var backupFile: String?
    /// The user that the client logged in as.
    var user: String?
}
