import CPostgreSQL

/// Where the database is, and how it is used. Prints no password.
package struct PostgresConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Connections for pipelines.
    package var connections = 4
    /// Connections beside those, for transactions of several steps and for snapshots.
    package var sessions = 2
    /// How long a pipeline waits for a connection. A lost one is made again meanwhile, to whichever host takes writes by then.
    package var patience = Duration.seconds(10)
    /// How long no connection can be had before the server is known to be away: callers in a hurry then wait no longer.
    package var outage = Duration.seconds(2)
    /// How long an answer may take: also the server's own limit for a statement.
    package var timeout = Duration.seconds(60)
    /// How many pipelines may wait for a connection.
    package var maxWaiting = 10_000
    /// The schema of tables that statements name without one.
    package var searchPath: String?
    package var applicationName = "sluice"
    /// The beginning of the labels of the client's metrics; nil for a client that counts for itself alone.
    package var metrics: String?
    /// Whether errors about answers that stay away say what the server waits for.
    package var namesObstacles = true
    /// Settings of the server for these connections, such as `enable_seqscan`. One that the server does not know is left out.
    package var serverSettings: [String: String] = [:]

    package let user: String
    package let database: String
    /// Host and port of each server.
    package let hosts: [String]
    /// May hold a password.
    let connectionString: String

    /// - Parameter url: what libpq takes: `postgres://user@host1,host2/database?...`, or `host=... dbname=...`.
    /// - Throws: `invalidURL`, without quoting the URL, which may hold a password.
    package init(_ url: String) throws(PostgresError) {
        let options = try Self.options(of: url)
        connectionString = url
        user = options["user"] ?? ""
        database = options["dbname"] ?? options["user"] ?? ""
        let names = (options["host"] ?? options["hostaddr"] ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        let ports = (options["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
            throw PostgresError(
                .invalidURL,
                "a port of the connection string is no number; characters such as / and @ in a password are written as %2F and %40"
            )
        }
        hosts =
            names.allSatisfy(\.isEmpty)
            ? []
            : names.indices.map { index in
                let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
                let name = names[index].isEmpty ? "local" : names[index]
                return port.isEmpty ? "\(name):5432" : "\(name):\(port)"
            }
    }

    /// The database's place for messages.
    package var place: String { "\(hosts.isEmpty ? "local" : hosts.joined(separator: ","))/\(database)" }

    package var description: String { user.isEmpty ? place : "\(user)@\(place)" }
    package var debugDescription: String { description }

    /// What libpq is to use where the connection string says nothing, before it; and what counts whatever it says, after it.
    var parameters: [(name: String, value: String)] {
        var parameters = [
            ("fallback_application_name", applicationName), ("connect_timeout", "5"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
        ]
        if hosts.count > 1 { parameters.append(("target_session_attrs", "read-write")) }
        return parameters + [("dbname", connectionString), ("client_encoding", "UTF8")]
    }

    /// What the connection string says, by libpq's names. libpq's own message would quote the string.
    private static func options(of url: String) throws(PostgresError) -> [String: String] {
        for scheme in ["postgres://", "postgresql://"] where url.hasPrefix(scheme) {
            let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            guard authority.count(where: { $0 == "@" }) <= 1 else {
                throw PostgresError(.invalidURL, "there are two @ in the URL: one in a password is written as %40")
            }
        }
        var message: UnsafeMutablePointer<CChar>?
        guard let parsed = PQconninfoParse(url, &message) else {
            PQfreemem(message)
            throw PostgresError(
                .invalidURL,
                "libpq cannot read it; expected postgres://user@host/database, or host=... dbname=... user=...")
        }
        defer { PQconninfoFree(parsed) }
        var options: [String: String] = [:]
        var next = parsed
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return options
    }
}

extension PostgresConfiguration: CustomReflectable {
    /// `dump` and test failures show this instead of the stored properties.
    package var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}
