import SyncModel

// The layouts of exports: the latest (`root_config.json`), that of 2021 (`realm_config.json`), and the one before (`config.json`,
// `stitch.json`), where sync is a setting of a service and each rules file has its collection's schema.
extension ExportedRules {
    /// - Parameters:
    ///   - wanted: the environment whose values count; nil for the one that the app was in.
    ///   - databases: those that count where a class stands in several.
    package init(
        _ files: ExportFiles, environment wanted: String? = nil, databases: [String] = []
    ) throws(ExportProblem) {
        self.init()
        let reader = ExportReader(files: files)
        guard try reader.isExport else {
            throw ExportProblem(
                "no export of an App Services app: expected sync/config.json, config.json or stitch.json in it")
        }
        let source = try reader.readSync(into: &self)
        mode = sync["partition"] != nil || sync["type"]?.stringValue == "partition" ? .partition : nil
        if mode == nil, sync["type"]?.stringValue == "flexible" { mode = .flexible }
        try readRules(of: source, reader, databases)
        values = try reader.values()
        environment = try reader.environment(wanted)
        noteMode()
        notes += try reader.loginNotes()
        if JSONWriter.text(of: document).contains("%%user.custom_data") { notes += try reader.customDataNotes() }
    }

    private mutating func readRules(
        of source: String?, _ reader: ExportReader, _ databases: [String]
    ) throws(ExportProblem) {
        guard mode != .partition, syncRoles == nil else {
            if reader.hasRules {
                notes.append("the rules of collections are left out: they were for requests to MongoDB, not for sync")
            }
            return
        }
        let folder = try reader.folder(ofSource: source)
        defaultRule = try folder.map { folder throws(ExportProblem) in
            try reader.files.json("\(folder)/default_rule.json")
        }
        .flatMap(\.self)
        let collections = try folder.map { folder throws(ExportProblem) in try reader.collections(in: folder) } ?? []
        let known = Set(collections.map(\.database))
        if let stranger = databases.first(where: { !known.contains($0) }) {
            throw ExportProblem("there is no database \(stranger.shown) in it: it has \(known.sorted().shown)")
        }
        for (name, all) in Dictionary(grouping: collections, by: \.className).sorted(by: { $0.key < $1.key }) {
            let synced = all.filter(\.hasSchema)
            let chosen = try Self.choose(of: synced.isEmpty ? all : synced, databases)
            if chosen.name != name { classNames[chosen.name] = name }
            if let rules = chosen.rules { classes[name] = rules }
            if synced.isEmpty { classesWithoutSchema.insert(name) }
        }
    }

    /// The collection that a class is, of those that have its name.
    private static func choose(
        of collections: [ExportedCollection], _ databases: [String]
    ) throws(ExportProblem) -> ExportedCollection {
        for database in databases {
            if let wanted = collections.first(where: { $0.database == database }) { return wanted }
        }
        let first = collections[0]
        // A class without a schema is not asked about: nobody synced it.
        guard first.hasSchema, collections.contains(where: { $0.roles != first.roles }) else { return first }
        throw ExportProblem(
            "class \(first.className.shown) stands in the databases \(collections.map(\.database).shown), with different rules: say with"
                + " --database which of them was synced")
    }

    private mutating func noteMode() {
        switch mode {
        case .partition: notes.append("the app used partition sync: make it with --sync-mode partition")
        case .flexible: notes.append("the app used flexible sync: make it with --sync-mode flexible")
        case nil:
            notes.append(
                "sync was not set up in this app: these are its rules for requests to MongoDB, as roles for flexible sync"
            )
        }
    }
}

/// A collection of an export, and what the export says of it.
struct ExportedCollection {
    var database: String
    var name: String
    var className: String
    var hasSchema: Bool
    var rules: JSONValue?

    var roles: JSONValue? { rules?.objectValue?["roles"] }
}

/// Finds in an export what is where, in each of the layouts.
private struct ExportReader {
    let files: ExportFiles

    /// The layout before 2021.
    private var isOld: Bool { !files.has("data_sources") && !files.has("sync") }

    var isExport: Bool {
        get throws(ExportProblem) {
            if files.has("data_sources") || files.has("services") { return true }
            if let sync = try files.object("sync/config.json"),
                ["type", "state", "partition", "development_mode_enabled", "service_name"].contains(where: {
                    sync[$0] != nil
                })
            {
                return true
            }
            for root in ExportFiles.roots where try files.object(root)?["config_version"] != nil { return true }
            return false
        }
    }

    var hasRules: Bool {
        files.paths.contains {
            $0.hasSuffix("/rules.json") || $0.hasSuffix("/default_rule.json") || $0.contains("/rules/")
        }
    }

    private var root: [String: JSONValue] {
        get throws(ExportProblem) {
            for root in ExportFiles.roots { if let found = try files.object(root) { return found } }
            return [:]
        }
    }

    // MARK: Sync

    /// - Returns: the data source that sync uses, if that is said.
    func readSync(into rules: inout ExportedRules) throws(ExportProblem) -> String? {
        guard isOld else {
            rules.sync = try files.object("sync/config.json") ?? [:]
            return rules.sync["service_name"]?.stringValue
        }
        for service in files.names(in: "services") {
            let config = try files.object("services/\(service)/config.json")?["config"]?.objectValue ?? [:]
            if let sync = config["sync"]?.objectValue {
                rules.sync = sync
                return service
            }
            if let sync = config["flexible_sync"]?.objectValue {
                rules.sync = sync
                rules.sync["type"] = "flexible"
                return service
            }
        }
        return nil
    }

    /// The folder of a data source; nil if there is none.
    func folder(ofSource name: String?) throws(ExportProblem) -> String? {
        let parent = isOld ? "services" : "data_sources"
        var sources: [String] = []
        for source in files.names(in: parent) {
            let config = try files.object("\(parent)/\(source)/config.json")
            // Other services have no collections; a data source's folder may lack the file.
            let type = config?["type"]?.stringValue ?? (isOld ? "" : "mongodb-atlas")
            if type.hasPrefix("mongodb") { sources.append(source) }
            if let name, source == name || config?["name"]?.stringValue == name { return "\(parent)/\(source)" }
        }
        guard sources.count <= 1 else {
            throw ExportProblem(
                "it says of none of its data sources that sync uses it: \(sources.shown); name one as service_name in sync/config.json"
            )
        }
        return sources.first.map { "\(parent)/\($0)" }
    }

    // MARK: Collections

    func collections(in folder: String) throws(ExportProblem) -> [ExportedCollection] {
        isOld ? try oldCollections(in: folder) : try newCollections(in: folder)
    }

    private func newCollections(in folder: String) throws(ExportProblem) -> [ExportedCollection] {
        var found: [ExportedCollection] = []
        for database in files.names(in: folder) {
            for name in files.names(in: "\(folder)/\(database)") {
                let place = "\(folder)/\(database)/\(name)"
                let (rules, schema) = (try files.json("\(place)/rules.json"), try files.object("\(place)/schema.json"))
                guard rules != nil || schema != nil else { continue }
                found.append(Self.collection(database, name, rules, schema))
            }
        }
        return found
    }

    private func oldCollections(in folder: String) throws(ExportProblem) -> [ExportedCollection] {
        var found: [ExportedCollection] = []
        for file in files.names(in: "\(folder)/rules") {
            guard let rules = try files.object("\(folder)/rules/\(file)") else { continue }
            guard let database = rules["database"]?.stringValue, let name = rules["collection"]?.stringValue else {
                continue
            }
            found.append(Self.collection(database, name, .object(rules), rules["schema"]?.objectValue))
        }
        return found
    }

    /// A schema without properties is what an export has of a collection that nobody gave one.
    private static func collection(
        _ database: String, _ name: String, _ rules: JSONValue?, _ schema: [String: JSONValue]?
    ) -> ExportedCollection {
        ExportedCollection(
            database: database, name: name, className: schema?["title"]?.stringValue ?? name,
            hasSchema: schema?["properties"]?.objectValue?.isEmpty == false, rules: rules)
    }

    // MARK: Values

    func values() throws(ExportProblem) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for file in files.names(in: "values") {
            guard let members = try files.object("values/\(file)"), members["from_secret"] != true,
                let name = members["name"]?.stringValue
            else { continue }
            values[name] = members["value"]
        }
        return values
    }

    func environment(_ wanted: String?) throws(ExportProblem) -> (tag: String, values: [String: JSONValue]) {
        let own = try root["environment"]?.stringValue
        var tag = wanted ?? own ?? ""
        if ["none", "no-environment"].contains(tag) { tag = "" }
        let file = "environments/\(tag.isEmpty ? "no-environment" : tag).json"
        let values = try files.object(file)?["values"]?.objectValue
        if let wanted, values == nil { throw ExportProblem("there is no environment \(wanted.shown) in it: \(file)") }
        return (tag, values ?? [:])
    }

    // MARK: Users

    /// How the app's users logged in.
    func loginNotes() throws(ExportProblem) -> [String] {
        var providers = try files.object("auth/providers.json") ?? [:]
        for file in files.names(in: "auth_providers") {
            guard let provider = try files.object("auth_providers/\(file)"), let type = provider["type"]?.stringValue
            else {
                continue
            }
            providers[type] = .object(provider)
        }
        let used = providers.filter { $0.value.objectValue?["disabled"] != true }.keys.sorted()
        return used.isEmpty
            ? [] : ["users logged in by \(used.prefix(20).joined(separator: ", ")): set logins to match"]
    }

    func customDataNotes() throws(ExportProblem) -> [String] {
        let old = try root["custom_user_data_config"]?.objectValue
        let settings = try files.object("auth/custom_user_data.json") ?? old ?? [:]
        guard settings["enabled"] == true, let database = settings["database_name"]?.stringValue,
            let collection = settings["collection_name"]?.stringValue
        else { return ["the rules look at custom data, and the app had none"] }
        return [
            "the rules look at custom data: it was in \(database).\(collection), here it is set with sluice users custom-data"
        ]
    }
}
