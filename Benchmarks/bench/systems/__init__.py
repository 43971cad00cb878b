"""The systems that the bench compares: one file each, with a class `System`. It is created with the house and a dictionary
of options, and has

    start()           starts its programs on all hosts, and returns when they are ready
    play(wav)         plays on all rooms, without waiting for the end
    listen()          plays what is written into a named pipe, and returns its path; for live scenarios
    steer(do, ...)    "pause", "resume", or "seek" with the second to seek to
    restart(room)     starts the room's programs again after they were killed; of room 0 those of a household's daemon
    announce(clip)    plays a short file over the music, without waiting for its end; for scenarios that do
    version           text
"""
