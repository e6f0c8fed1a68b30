import ArgumentParser
import Glibc

/// The program: runs the command that its arguments name, and ends.
@main
enum Program {
    static func main() async {
        do {
            var command = try await Sluice.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(.success)
        } catch let code as ExitCode {
            end(code)
        } catch {
            // Help, a version, or arguments that cannot be read: no thread has been started.
            Sluice.exit(withError: error)
        }
    }

    /// Ends the process at once, without what libraries have registered for its end: threads are still at work in them, such as one that closes a
    /// connection to the database, and would find gone what TLS and Kerberos free there.
    static func end(_ code: ExitCode) -> Never {
        fflush(nil)
        _exit(code.rawValue)
    }
}
