/// Where one of an operator's clusters is, and how one proves there who one is: no secret, but the place of it.
package struct ClusterContext: Codable, Sendable, Equatable {
    package var name: String
    /// The coordinators' admin API, http://host:port, several with commas between.
    package var coordinatorURL: String?
    /// A file of settings, for commands that read the broker or the store themselves.
    package var config: String?
    /// A file that holds an admin token, or the name of an environment variable that does.
    package var tokenFile: String?
    package var tokenVariable: String?
    /// A PEM file of authorities that are trusted beside the system's.
    package var authoritiesFile: String?

    package init(
        name: String, coordinatorURL: String? = nil, config: String? = nil, tokenFile: String? = nil,
        tokenVariable: String? = nil, authoritiesFile: String? = nil
    ) {
        self.name = name
        self.coordinatorURL = coordinatorURL
        self.config = config
        self.tokenFile = tokenFile
        self.tokenVariable = tokenVariable
        self.authoritiesFile = authoritiesFile
    }

    /// Makes sure that the context says where a cluster is, and holds no secret.
    package func validate() throws(OperationsError) {
        func refuse(_ text: String) throws(OperationsError) { throw OperationsError(.invalidSetting, text) }
        let isPlain = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain, (1...63).contains(name.utf8.count), name != Self.none else {
            return try refuse("a context's name has 1 to 63 letters, digits, -, _ and ., and is not \(Self.none)")
        }
        guard coordinatorURL != nil || config != nil else {
            return try refuse("context \(name): say where the coordinators are, or a file of settings")
        }
        for url in coordinatorURL?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let rest = url.hasPrefix("http://") ? url.dropFirst(7) : url.hasPrefix("https://") ? url.dropFirst(8) : ""
            guard let first = rest.first, first != "/" else {
                return try refuse("context \(name): expected http://host:port or https://host:port")
            }
            guard !rest.contains("@") else {
                return try refuse(
                    "context \(name): an address has no password: name a file or a variable with the token")
            }
        }
        if tokenFile != nil, tokenVariable != nil {
            return try refuse("context \(name): expected a file or a variable with the token, found both")
        }
    }

    /// The name that stands for no context at all.
    package static let none = "none"
    /// Variables that say which cluster a command is for: where one of them is set, the current context is not taken.
    package static let rivals = [
        "SLUICE_CONFIG", "SLUICE_COORDINATOR_URL", "SLUICE_AMQP_URL", "SLUICE_STORE_URL", "SLUICE_ADMIN_TOKEN",
        "SLUICE_ADMIN_TOKEN_FILE",
    ]
}
