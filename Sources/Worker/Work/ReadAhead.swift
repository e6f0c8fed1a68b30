import Changesets
import Messages
import Storage
import SyncModel

/// The rows that a batch's messages name and memory does not hold, as far as they were read before the batch is gone through. It shows the
/// store as the last commit left it.
struct ReadAhead {
    private(set) var found = SliceFindings()
    private(set) var asked = SliceLookup()

    /// Takes in what a lookup has found, but for objects.
    mutating func add(_ more: SliceFindings, of lookup: SliceLookup) {
        asked.realms.formUnion(lookup.realms)
        asked.appGenerations.formUnion(lookup.appGenerations)
        asked.clientFiles.formUnion(lookup.clientFiles)
        asked.messages.formUnion(lookup.messages)
        found.realms.merge(more.realms) { $1 }
        found.appGenerations.merge(more.appGenerations) { $1 }
        found.clientFiles.merge(more.clientFiles) { $1 }
        found.messages.formUnion(more.messages)
        found.users.merge(more.users) { $1 }
        found.bases.merge(more.bases) { $1 }
    }

    // Nil for what was not asked for.
    func isSeen(_ id: String) -> Bool? { asked.messages.contains(id) ? found.messages.contains(id) : nil }
    func realm(_ name: RealmName) -> RealmRecord?? { asked.realms.contains(name) ? .some(found.realms[name]) : nil }
    func clientFile(_ key: ClientFileKey) -> ClientFileRecord?? {
        asked.clientFiles.contains(key) ? .some(found.clientFiles[key]) : nil
    }
    func generation(of app: String) -> AppGenerationRecord?? {
        asked.appGenerations.contains(app) ? .some(found.appGenerations[app]) : nil
    }
}

extension SliceWork {
    /// Reads what messages name, in two calls however many they are: realms first, then what is in them. Where something is
    /// damaged, each message finds out for itself.
    func read(ahead deliveries: [SliceDelivery]) async throws {
        do {
            _ = try await read(ahead: names(in: deliveries))
            var rows = SliceLookup()
            var addresses: [RealmID: [ObjectRow: ObjectAddress]] = [:]
            var contexts: [RealmID: RealmContext] = [:]
            for delivery in deliveries {
                guard let content = try? delivery.content.get(), let name = content.realm,
                    let context = try await storedRealm(name)
                else { continue }
                let realm = context.record.id
                contexts[realm] = context
                if let ident = content.clientFile, ident >= 2, context.clientFile(ident) == nil {
                    rows.clientFiles.insert(context.key(ident))
                }
                if let user = content.user { rows.users.insert(RealmUser(realm: realm, user: user)) }
                if content.mayBegin, content.clientFile.flatMap({ context.clientFile($0)?.record.historyStart }) == nil
                {
                    rows.bases.insert(realm)
                }
                for changeset in delivery.changesets {
                    guard let changeset = try? changeset.get() else { continue }
                    let missing = context.missing(for: changeset)
                    if !missing.isEmpty { addresses[realm, default: [:]].merge(missing) { $1 } }
                }
            }
            rows.objects = addresses.mapValues { Array($0.keys) }
            for (realm, found) in try await read(ahead: rows).objects {
                if let context = contexts[realm] { try load(addresses[realm] ?? [:], found, into: context) }
            }
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
        }
    }

    private func names(in deliveries: [SliceDelivery]) -> SliceLookup {
        var lookup = SliceLookup()
        for delivery in deliveries {
            guard let content = try? delivery.content.get(), let name = content.realm else { continue }
            if memory.realms[name] == nil { lookup.realms.insert(name) }
            if memory.generations[name.app] == nil { lookup.appGenerations.insert(name.app) }
            if content.isEvent, let id = delivery.id {
                lookup.messages.insert(ChangesetMessage.mark(ofEvent: id, in: name))
            }
        }
        return lookup
    }
}

extension SliceLookup {
    var isEmpty: Bool {
        realms.isEmpty && appGenerations.isEmpty && clientFiles.isEmpty && users.isEmpty && messages.isEmpty
            && bases.isEmpty && objects.isEmpty
    }
}

extension SliceMessage {
    /// Whether an operator or a backend has published it to write to a realm.
    fileprivate var isEvent: Bool {
        switch self {
        case .changesets(let message): message.upload == nil
        case .write: true
        default: false
        }
    }

    /// The client file that the message is from or about, if it says so.
    fileprivate var clientFile: FileIdent? {
        switch self {
        case .changesets(let message): message.upload?.clientFile
        case .identify(let request): request.clientFile.ident
        case .page(let request): request.clientFile
        case .unbind(let notice): notice.clientFile
        case .reset(let message): message.clientFile
        case .write, .bind, .termination, .rules, .allowResets, .erase, .eraseApp, .tick, .claim: nil
        }
    }

    /// The user whose resets the message may be about.
    fileprivate var user: String? {
        switch self {
        case .bind(let request): request.user
        case .unbind(let notice): notice.clientFile == nil ? notice.user : nil
        case .changesets, .write, .identify, .page, .termination, .reset, .rules, .allowResets, .erase, .eraseApp,
            .tick, .claim:
            nil
        }
    }

    /// Whether a client file may begin with the realm's newest base by it, or be within a base.
    fileprivate var mayBegin: Bool {
        switch self {
        case .changesets(let message): message.upload != nil
        case .page: true
        case .write, .bind, .identify, .unbind, .termination, .reset, .rules, .allowResets, .erase, .eraseApp, .tick,
            .claim:
            false
        }
    }
}
