async def run(host, box): return {}
