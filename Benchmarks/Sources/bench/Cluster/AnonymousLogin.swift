import Foundation

/// Logs in without an account, over HTTP.
enum AnonymousLogin {
    static func accessToken(port: Int, app: String) async throws -> String {
        let body = Data(#"{"provider":"anon-user"}"#.utf8)
        let head = """
            POST /api/client/v2.0/app/\(app)/auth/providers/anon-user/login HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        let answer = try await offTheCooperativeThreads { try exchange(port: port, Data(head.utf8) + body) }
        struct Login: Decodable { var access_token: String }
        guard let split = answer.range(of: Data("\r\n\r\n".utf8)), answer.starts(with: Data("HTTP/1.1 20".utf8)),
            let login = try? JSONDecoder().decode(Login.self, from: answer[split.upperBound...])
        else { throw BenchFailure("no login: \(String(decoding: answer.prefix(300), as: UTF8.self))") }
        return login.access_token
    }

    private static func exchange(port: Int, _ request: Data) throws -> Data {
        let descriptor = try Loopback.connect(port: port, blocking: true)
        defer { close(descriptor) }
        let sent = request.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard sent == request.count else { throw BenchFailure("the login request could not be sent") }
        var answer = Data()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { answer += chunk[..<count] }
        return answer
    }
}

/// Runs blocking work on a thread of its own.
func offTheCooperativeThreads<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

enum Loopback {
    static func connect(port: Int, blocking: Bool) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchFailure("no socket: \(String(cString: strerror(errno)))") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        // A listener whose backlog is full must not hold up the loop.
        if !blocking { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 || (!blocking && errno == EINPROGRESS) else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw BenchFailure("cannot connect to port \(port): \(reason)")
        }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
}
