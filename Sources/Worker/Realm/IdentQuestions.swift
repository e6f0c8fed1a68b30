import Messages

/// Decides whether a client is where its IDENT says, before that costs it a reset, or what it is taken to have been sent.
///
/// An `identify` request may come twice: delivered again, or published again after a lost confirm, perhaps to an owner that
/// never heard of the session. What it says was true when it was sent; taken for news, it looks like a client that has lost its
/// memory. Only the gateway knows whether the session still waits for an answer. So the owner asks it, under a number that it has
/// drawn, and believes only a request with that number. A number counts once. An owner that does not know
/// it, because another one asked, asks again.
struct IdentQuestions {
    enum Verdict: Equatable {
        /// The session waits for this answer: its client is where it says.
        case certain
        /// The gateway is to be asked, under this number.
        case ask(UInt64)
        /// The gateway is of a version that cannot be asked, and the request may be an old one: the client tries again.
        case retry
    }

    /// The number of open questions at which all are forgotten; their sessions are asked about again.
    static let maxOpen = 1_000
    private var open: [SessionReference: UInt64] = [:]

    /// - Parameters:
    ///   - confirms: of the request.
    ///   - mayBeOld: what else is known speaks for a request that came late; asked only if the gateway cannot be.
    ///   - number: draws one for a new question; never 0.
    mutating func verdict(
        on session: SessionReference, confirms: UInt64?, mayBeOld: Bool, number: () -> UInt64
    ) -> Verdict {
        guard let confirms else { return mayBeOld ? .retry : .certain }
        if let asked = open[session] {
            // The same question again: with a new number, two copies of a request would chase each other for ever.
            guard confirms == asked else { return .ask(asked) }
            open[session] = nil
            return .certain
        }
        if open.count >= Self.maxOpen { open = [:] }
        let asked = number()
        open[session] = asked
        return .ask(asked)
    }

    /// The session was answered in another way, or has ended.
    mutating func close(_ session: SessionReference) { open[session] = nil }
}
