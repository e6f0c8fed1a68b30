import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
package import Operations

/// What hands mails over to be sent: the operator's, since Sluice speaks no SMTP and knows no templates.
package protocol MailHook: Sendable {
    /// Hands one mail over, as JSON.
    /// - Throws: whatever kept it from being taken; it is tried again.
    func deliver(_ mail: Data) async throws
}

/// Posts mails to a URL.
package struct HTTPMailHook: MailHook {
    private let url: String
    private let secret: Secret

    /// - Parameter secret: sent as a bearer token, so that the receiver knows who asks; may be empty.
    package init(url: String, secret: Secret) {
        self.url = url
        self.secret = secret
    }

    package func deliver(_ mail: Data) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if !secret.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(secret.revealed)") }
        request.body = .bytes(ByteBuffer(bytes: mail))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        _ = try? await answer.body.collect(upTo: 1 << 16)
        guard (200..<300).contains(answer.status.code) else {
            throw GatewayError(.mail, "the mail hook answered \(answer.status.code)")
        }
    }
}

/// Gives mails to a command, on its standard input.
package struct CommandMailHook: MailHook {
    private let command: String
    private let patience: TimeAmount

    /// - Parameter command: the path of a program, called without arguments.
    package init(command: String, patience: Duration = .seconds(10)) {
        self.command = command
        self.patience = TimeAmount(patience)
    }

    package func deliver(_ mail: Data) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command)
        // The process's own surroundings hold secrets.
        process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let input = Pipe()
        process.standardInput = input
        // A mail is smaller than a pipe, so this waits for nobody; and as the pipe's end is still ours, nobody can have gone.
        try input.fileHandleForWriting.write(contentsOf: mail)
        try input.fileHandleForWriting.close()
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            let killer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: patience) {
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            }
            process.terminationHandler = { process in
                killer.cancel()
                continuation.resume(
                    returning: process.terminationReason == .exit ? process.terminationStatus : -1)
            }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                killer.cancel()
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else {
            throw GatewayError(
                .mail,
                status < 0 ? "the mail command was killed or took too long" : "the mail command exited with \(status)")
        }
    }
}
