internal import CLinux
internal import Glibc

/// A thread for code that blocks, which must not run on a thread of the cooperative pool.
package enum LoopThread {
    private final class Body {
        let name: StaticString
        let run: @Sendable () -> Void

        init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new thread, which ends with it.
    ///
    /// - Parameter name: at most 15 bytes; the thread is shown by it.
    /// - Returns: whether the thread could be made.
    package static func start(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(name, body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                body.name.withUTF8Buffer { name in
                    name.withMemoryRebound(to: CChar.self) { linux_shim_name_thread($0.baseAddress) }
                }
                body.run()
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }
}
