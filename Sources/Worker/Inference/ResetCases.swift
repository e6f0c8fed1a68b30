import Storage

/// The reset cases that were read or changed since the last commit.
struct ResetCases {
    private var known: [ClientFileKey: ResetCase] = [:]
    private var changed: Set<ClientFileKey> = []
    /// How cases were that the message in hand has changed; nil if they were not there.
    private var before: [ClientFileKey: (resetCase: ResetCase?, wasChanged: Bool)] = [:]

    var isEmpty: Bool { known.isEmpty }

    subscript(key: ClientFileKey) -> ResetCase? { known[key] }

    /// Remembers a case as the store has it, unless it is known already: what was changed since stays.
    mutating func remember(_ resetCase: ResetCase?, of key: ClientFileKey) {
        if known[key] == nil { known[key] = resetCase }
    }

    /// Changes a case; the next commit writes it.
    mutating func change(_ resetCase: ResetCase, of key: ClientFileKey) {
        if before[key] == nil { before[key] = (known[key], changed.contains(key)) }
        known[key] = resetCase
        changed.insert(key)
    }

    /// The changes of the message in hand stay.
    mutating func keep() { before = [:] }

    /// The cases are as they were before the message in hand.
    mutating func undo() {
        for (key, (resetCase, wasChanged)) in before {
            known[key] = resetCase
            if !wasChanged { changed.remove(key) }
        }
        before = [:]
    }

    /// A user's cases of a realm that are not closed, the newest client file first.
    func open(of user: String, in realm: RealmID) -> [ClientFileKey] {
        known.filter { $0.key.realm == realm && $0.value.user == user && !$0.value.isClosed }
            .map(\.key).sorted { $0.ident > $1.ident }
    }

    /// Returns the rows that the next commit writes.
    func records() throws -> [ResetCaseRecord] {
        try changed.sorted { ($0.realm, $0.ident) < ($1.realm, $1.ident) }
            .compactMap { key in try known[key]?.record(realm: key.realm) }
    }
}
