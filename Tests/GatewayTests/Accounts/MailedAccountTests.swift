import Foundation
import Operations
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import Storage

/// Keeps the mails that it is handed, after it has failed as often as it is told to.
private final class Mailbox: MailHook {
    struct Letter: Decodable, Sendable {
        var app: String
        var kind: String
        var email: String
        var token: String
        var tokenId: String
        var link: String
        var expiresAt: UInt64
    }

    private let held = Mutex<(letters: [Letter], failures: Int)>(([], 0))

    init(failures: Int = 0) { held.withLock { $0.failures = failures } }

    var letters: [Letter] { held.withLock { $0.letters } }

    func deliver(_ mail: Data) async throws {
        let letter = try JSONDecoder().decode(Letter.self, from: mail)
        try held.withLock { held in
            guard held.failures == 0 else {
                held.failures -= 1
                throw GatewayError(.mail, "the test fails it")
            }
            held.letters.append(letter)
        }
    }

    func letter(_ number: Int) async throws -> Letter {
        try await eventually("mail \(number) comes") { self.letters.count > number }
        return letters[number]
    }
}

/// The proof by mail of whose an address is. The clients' addresses are those that a trusted proxy names.
@Suite(.hangGuard) struct MailedAccountTests {
    private static let userpass = "\(GatewayHarness.app)/auth/providers/local-userpass"
    private static let (owner, stranger) = ("192.0.2.1", "198.51.100.1")

    private static func with(
        _ hook: (any MailHook)?, confirm: Bool = true,
        configure: @escaping (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @Sendable @escaping (GatewayHarness) async throws -> Void
    ) async throws {
        let settings = EmailLoginSettings(
            confirmURL: confirm ? "https://app.example.net/confirm?lang=en" : nil,
            resetURL: "https://app.example.net/reset")
        expectTrue(settings.problem == nil)
        try await GatewayHarness.with(
            configure: {
                $0.mail = hook
                $0.proxies.trusted = (try? AddressRanges("127.0.0.1")) ?? AddressRanges()
                configure(&$0)
            }
        ) { gateway in
            try await gateway.store.setLoginSettings(
                try JSONEncoder().encode(settings), app: "tasks", provider: "local-userpass")
            try await body(gateway)
        }
    }

    private static func ask(
        _ gateway: GatewayHarness, _ call: String, _ body: [String: String], from address: String = owner
    ) async throws -> HTTPAnswer {
        try await gateway.request(
            "POST", "\(userpass)/\(call)", body: String(decoding: try JSONEncoder().encode(body), as: UTF8.self),
            headers: ["X-Forwarded-For": address])
    }

    private static func register(
        _ gateway: GatewayHarness, _ password: String, from address: String = owner
    ) async throws -> UInt {
        try await ask(gateway, "register", ["email": "ann@b.c", "password": password], from: address).status
    }

    private static func login(
        _ gateway: GatewayHarness, _ password: String, from address: String = owner
    ) async throws -> HTTPAnswer {
        try await ask(gateway, "login", ["username": "ann@b.c", "password": password], from: address)
    }

    @Test func anAccountCountsOnceItsAddressIsConfirmed() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox) { gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            let early = try await Self.login(gateway, "secret-1")
            expectTrue(early.status == 401 && early.string("error") == "confirmation required")
            try await expectEqual(Self.login(gateway, "secret-2").string("error_code"), "InvalidPassword")
            let letter = try await mailbox.letter(0)
            expectTrue(letter.kind == "confirm" && letter.email == "ann@b.c" && letter.app == "tasks")
            expectEqual(
                letter.link, "https://app.example.net/confirm?lang=en&token=\(letter.token)&tokenId=\(letter.tokenId)")
            for wrong in [
                ["token": "x", "tokenId": letter.tokenId], ["token": letter.token, "tokenId": "x"],
                ["token": letter.token],
            ] {
                let answer = try await Self.ask(gateway, "confirm", wrong)
                expectTrue(answer.status == 400 && answer.string("error_code") == "BadRequest")
            }
            let proof = ["token": letter.token, "tokenId": letter.tokenId]
            try await expectEqual(Self.ask(gateway, "confirm", proof).status, 204)
            try await expectEqual(Self.login(gateway, "secret-1").status, 200)
            // A mail is good for once; and an address that is confirmed is taken.
            try await expectEqual(Self.ask(gateway, "confirm", proof).string("error"), "invalid token data")
            try await expectEqual(Self.register(gateway, "secret-3"), 409)
            let again = try await Self.ask(gateway, "confirm/send", ["email": "ann@b.c"])
            expectTrue(again.status == 400 && again.string("error_code") == "UserAlreadyConfirmed")
        }
    }

    @Test func aStrangersRegistrationTakesNobodysAddress() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox) { gateway in
            try await expectEqual(Self.register(gateway, "strangers", from: Self.stranger), 201)
            _ = try await mailbox.letter(0)
            // The address is not taken, and each mail is for the password that was given with it.
            try await expectEqual(Self.register(gateway, "owners-own"), 201)
            let mine = try await mailbox.letter(1)
            try await expectEqual(Self.register(gateway, "strangers", from: Self.stranger), 201)
            let theirs = try await mailbox.letter(2)
            // Asking for another mail does not bring the stranger's password into it.
            try await expectEqual(Self.ask(gateway, "confirm/send", ["email": "ann@b.c"]).status, 204)
            let proof = ["token": mine.token, "tokenId": mine.tokenId]
            try await expectEqual(Self.ask(gateway, "confirm", proof).status, 204)
            try await expectEqual(Self.login(gateway, "owners-own").status, 200)
            try await expectEqual(Self.login(gateway, "strangers", from: Self.stranger).status, 401)
            let late = ["token": theirs.token, "tokenId": theirs.tokenId]
            try await expectEqual(Self.ask(gateway, "confirm", late, from: Self.stranger).status, 400)
            expectEqual(mailbox.letters.count, 3)
        }
    }

    @Test func aForgottenPasswordIsReplacedAndEveryLoginEnds() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox, confirm: false) { gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            let before = try await Self.login(gateway, "secret-1")
            expectEqual(before.status, 200)
            for email in ["ann@b.c", "nobody@b.c"] {
                try await expectEqual(Self.ask(gateway, "reset/send", ["email": email]).status, 204)
            }
            let letter = try await mailbox.letter(0)
            expectTrue(letter.kind == "reset" && letter.link.hasPrefix("https://app.example.net/reset?token="))
            var change = ["token": letter.token, "tokenId": letter.tokenId, "password": "short"]
            try await expectEqual(Self.ask(gateway, "reset", change).status, 400)
            change["password"] = "secret-2"
            // A mail of one kind is not good for the other.
            try await expectEqual(Self.ask(gateway, "confirm", change).status, 400)
            try await expectEqual(Self.ask(gateway, "reset", change).status, 204)
            try await expectEqual(Self.ask(gateway, "reset", change).status, 400)
            try await expectEqual(Self.login(gateway, "secret-1").status, 401)
            let after = try await Self.login(gateway, "secret-2")
            expectTrue(after.status == 200 && after.string("user_id") == before.string("user_id"))
            let refresh = try await gateway.request(
                "POST", "\(GatewayHarness.auth)/session", bearer: before.string("refresh_token"))
            expectEqual(refresh.status, 401)
            expectEqual(mailbox.letters.count, 1)
        }
    }

    @Test func aMailIsGoodForHalfAnHour() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox) { gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            let letter = try await mailbox.letter(0)
            gateway.clock.advance(by: .seconds(30 * 60))
            let late = try await Self.ask(gateway, "confirm", ["token": letter.token, "tokenId": letter.tokenId])
            expectTrue(late.status == 400 && late.string("error") == "invalid token data")
            try await expectEqual(Self.ask(gateway, "confirm/send", ["email": "ann@b.c"]).status, 204)
            let next = try await mailbox.letter(1)
            let proof = ["token": next.token, "tokenId": next.tokenId]
            try await expectEqual(Self.ask(gateway, "confirm", proof).status, 204)
            try await expectEqual(Self.login(gateway, "secret-1").status, 200)
        }
    }

    /// Phones change their addresses, and what is proved is whose the mailbox is.
    @Test func theMailComesAgainWhereverItIsAskedForFrom() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox) { gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            let lost = try await mailbox.letter(0)
            let again = try await Self.ask(gateway, "confirm/send", ["email": "Ann@b.c"], from: "203.0.113.7")
            expectEqual(again.status, 204)
            let letter = try await mailbox.letter(1)
            expectTrue(letter.token != lost.token && letter.email == "ann@b.c")
            let proof = ["token": letter.token, "tokenId": letter.tokenId]
            try await expectEqual(Self.ask(gateway, "confirm", proof, from: "203.0.113.8").status, 204)
            try await expectEqual(Self.login(gateway, "secret-1").status, 200)
        }
    }

    @Test func mailRequestsOfOneClientAreLimitedAcrossMailboxes() async throws {
        let mailbox = Mailbox()
        try await Self.with(mailbox, configure: { $0.limits.mailAddressRate = .init(burst: 3, perMinute: 0) }) {
            gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            for number in 0..<3 {
                let email = number == 0 ? "ann@b.c" : "nobody-\(number)@b.c"
                let answer = try await Self.ask(gateway, "confirm/send", ["email": email], from: Self.stranger)
                expectEqual(answer.status, 204)
            }
            let flood = try await Self.ask(gateway, "confirm/send", ["email": "ann@b.c"], from: Self.stranger)
            expectEqual(flood.status, 429)
            try await expectEqual(Self.ask(gateway, "confirm/send", ["email": "ann@b.c"]).status, 204)
            _ = try await mailbox.letter(2)
        }
    }

    @Test func anAccountThatNeedsNoConfirmationIsConfirmed() async throws {
        try await GatewayHarness.with { gateway in
            try await gateway.registerByPassword()
            let answer = try await Self.ask(gateway, "confirm/send", ["email": "Ann@example.net"])
            expectTrue(answer.status == 400 && answer.string("error_code") == "UserAlreadyConfirmed")
            expectEqual(answer.string("error"), "already confirmed")
            let nobody = try await Self.ask(gateway, "confirm/send", ["email": "nobody@example.net"])
            expectTrue(nobody.status == 404 && nobody.string("error_code") == "AuthProviderNotFound")
            _ = try await gateway.store.updateApp("tasks") { $0.emailPasswordLogin = false }
            try await eventually {
                try await Self.ask(gateway, "confirm/send", ["email": "ann@example.net"]).status == 404
            }
        }
    }

    /// Nobody can tell whose password a mail would bear that is asked for from a third place.
    @Test func aRegistrationThatSeveralHaveMadeIsItsLastMakersOnly() {
        let first = PendingRegistration(origin: "here", replacing: nil)
        expectTrue(first.maySendMail(askedFrom: "there"))
        expectTrue(PendingRegistration(origin: "here", replacing: first).maySendMail(askedFrom: "there"))
        let second = PendingRegistration(origin: "there", replacing: first)
        expectTrue(second.maySendMail(askedFrom: "there"))
        expectTrue(!second.maySendMail(askedFrom: "here") && !second.maySendMail(askedFrom: "anywhere"))
        // The registration stays so, whoever comes.
        let third = PendingRegistration(origin: "there", replacing: PendingRegistration(second.text))
        expectTrue(!third.maySendMail(askedFrom: "here"))
        for registration in [first, second, third] { expectEqual(PendingRegistration(registration.text), registration) }
        // As an earlier release has stored it.
        expectEqual(PendingRegistration("here"), first)
    }

    @Test func nobodysMailboxIsFlooded() async throws {
        try await Self.with(Mailbox(), configure: { $0.limits.mailboxRate = .init(burst: 2, perMinute: 0) }) {
            gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            try await expectEqual(
                Self.ask(gateway, "confirm/send", ["email": "ann@b.c"], from: Self.stranger).status, 204)
            let flooded = try await Self.ask(gateway, "confirm/send", ["email": "ann@b.c"])
            expectTrue(flooded.status == 429 && flooded.string("error")?.contains("to this mailbox") == true)
        }
    }

    @Test func withoutAHookNobodyRegistersWhereAddressesAreConfirmed() async throws {
        try await Self.with(nil) { gateway in
            let status = try await Self.register(gateway, "secret-1")
            expectEqual(status, 503)
            try await expectTrue(gateway.store.password(app: "tasks", email: "ann@b.c") == nil)
        }
        try await GatewayHarness.with { gateway in
            let off = try await Self.ask(gateway, "reset/send", ["email": "ann@b.c"])
            expectTrue(off.status == 404 && off.string("error_code") == "AuthProviderNotFound")
        }
    }

    @Test func aMailThatIsNotTakenIsTriedAgain() async throws {
        let mailbox = Mailbox(failures: 1)
        try await Self.with(mailbox) { gateway in
            try await expectEqual(Self.register(gateway, "secret-1"), 201)
            _ = try await mailbox.letter(0)
        }
    }

    @Test func aCommandGetsMailsOnItsInput() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func script(_ name: String, _ text: String) throws -> CommandMailHook {
            let file = folder.appending(path: name)
            try "#!/bin/sh\n\(text)\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
            return CommandMailHook(command: file.path, patience: .seconds(2))
        }
        let out = folder.appending(path: "out").path
        try await script("good", "cat > \(out)").deliver(Data(#"{"a":1}"#.utf8))
        try expectEqual(String(contentsOfFile: out, encoding: .utf8), #"{"a":1}"#)
        // No mail command brings the gateway down: not one that does not read, fails, hangs or is not there.
        for (name, text) in [("deaf", "exit 3"), ("slow", "exec sleep 600")] {
            let hook = try script(name, text)
            let error = await #expect(throws: GatewayError.self) {
                try await hook.deliver(Data(repeating: 1, count: 2_000))
            }
            expectEqual(error?.code, .mail)
        }
        await #expect(throws: (any Error).self) {
            try await CommandMailHook(command: "/nowhere/at/all").deliver(Data())
        }
    }
}
