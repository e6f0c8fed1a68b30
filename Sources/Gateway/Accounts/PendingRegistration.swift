/// A registration whose address is not confirmed yet, as the store has it. Pure.
///
/// A mail confirms the password of the registration that it belongs to, and whoever owns the address may ask for it again from anywhere. Where
/// others have registered the same address meanwhile, nobody can tell whose password such a mail would bear: then only those get
/// it who registered last.
struct PendingRegistration: Equatable {
    /// Tells where it was registered from, from other places.
    private(set) var origin: String
    /// Somebody had registered the address before, from elsewhere.
    private(set) var isContested: Bool

    /// No origin begins so; an earlier release takes the whole for one that is nobody's, and sends nothing.
    private static let mark = "contested "

    /// - Parameter known: the registration whose place it takes.
    init(origin: String, replacing known: PendingRegistration?) {
        self.origin = origin
        isContested = known.map { $0.isContested || $0.origin != origin } ?? false
    }

    init(_ text: String) {
        isContested = text.hasPrefix(Self.mark)
        origin = isContested ? String(text.dropFirst(Self.mark.count)) : text
    }

    var text: String { isContested ? Self.mark + origin : origin }

    /// - Parameter origin: of who asks for the mail.
    func maySendMail(askedFrom origin: String) -> Bool { !isContested || origin == self.origin }
}
