internal import Dispatch
internal import Logging

extension AppCore {
    /// Calls a handler with an error: the one given, else the sync manager's as it is at that moment.
    func deliver(_ error: SyncError, _ session: SyncSession, handler: ErrorReportingBlock?) {
        let manager = syncManager
        let logger = logger
        manager.callbackQueue.async {
            guard let handler = handler ?? manager.errorHandler else {
                logger.error("sync error without a handler", metadata: ["error": "\(error)"])
                return
            }
            handler(error, session)
        }
    }
}
